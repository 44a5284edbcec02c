// Chromium as installed on the machine, and what the tests do with pages again and again.
import { existsSync, mkdirSync, statSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { expect } from "vitest";

const pictures = resolve(process.env["DISCREET_PICTURES"] ?? "../build/console-pictures");
const largest = 350_000;

export async function launch(): Promise<Browser> {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const found = folders.flatMap((folder) => ["chromium", "chromium-browser", "google-chrome"].map((name) => join(folder, name))).find(existsSync);
  if (!found) throw new Error("no Chromium on the PATH; install it (Debian: apt-get install chromium)");
  return chromium.launch({ executablePath: found, args: ["--no-sandbox", "--disable-gpu", "--font-render-hinting=none"] });
}

export interface Visit {
  page: Page;
  /** What went wrong in the page so far: exceptions, console errors, requests to anywhere but the server. */
  complaints: string[];
  close: () => Promise<void>;
}

export async function visit(browser: Browser, address: string, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1360, height: 900 }, reducedMotion: "reduce", colorScheme: "light", ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(`exception: ${error.message}`));
  page.on("console", (message) => {
    // The browser logs every refused request; refusals are part of the tests and checked there.
    if (message.type() === "error" && !/Failed to load resource/.test(message.text())) complaints.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(address) && !url.startsWith("blob:")) complaints.push(`outside request: ${url}`);
  });
  await page.goto(address);
  return { page, complaints, close: () => context.close() };
}

export async function logIn(page: Page, name: string, password: string): Promise<void> {
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
}

export async function open(page: Page, name: string): Promise<void> {
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name }).click();
  await page.getByRole("heading", { level: 1, name }).waitFor();
}

/** Writes into the editor as a person would, over what was there. */
export async function write(page: Page, sql: string): Promise<void> {
  const editor = page.locator(".sql-editor .cm-content");
  await editor.click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText(sql);
}

export async function picture(page: Page, name: string, whole = false): Promise<void> {
  mkdirSync(pictures, { recursive: true });
  await page.evaluate(() => document.fonts.ready);
  const path = join(pictures, `console-${name}.png`);
  await page.screenshot({ path, fullPage: whole, animations: "disabled" });
  expect(statSync(path).size, `${name}.png is small enough to keep`).toBeLessThan(largest);
}
