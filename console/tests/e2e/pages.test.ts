// Every page in light and dark, at desk and phone width: readable, accessible, usable by keyboard.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { overflow, violations } from "./access";
import { launch, logIn, open, picture, visit, write, type Visit } from "./browser";
import { passwords, startTown, type Town } from "./town";

let town: Town;
let browser: Browser;

beforeAll(async () => {
  [town, browser] = await Promise.all([startTown("3"), launch()]);
});
afterAll(async () => {
  await browser?.close();
  await town?.stop();
});

const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 1, isMobile: true, hasTouch: true };
const byAge = "select age / 10 as decade, count(*) as patients, avg(age) as age\nfrom patients\ngroup by 1\norder by 1";

async function ask(page: Page, sql: string): Promise<void> {
  await page.getByLabel("ε, exactly").fill("0.1");
  await page.getByLabel("ε, exactly").press("Tab");
  await write(page, sql);
  await page.locator(".error-picture").first().waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: /^Run/ }).click();
  await page.getByRole("heading", { name: "Answer" }).waitFor();
  await page.getByRole("group", { name: "Errors at other epsilons" }).waitFor();
}

/** The same pages under one set of circumstances. */
async function tour(visitor: Visit, tag: string): Promise<void> {
  const { page } = visitor;
  expect(await violations(page), "login").toEqual([]);
  await logIn(page, "owner", passwords.owner);
  await page.getByRole("group", { name: "Example questions" }).waitFor();
  expect(await violations(page), "ask, empty").toEqual([]);
  await ask(page, byAge);
  for (const name of ["Ask", "Budget", "Data", "Owner", "Lab", "Learn"]) {
    if (name !== "Ask") await open(page, name);
    await page.waitForLoadState("networkidle");
    await expect.poll(() => page.locator(".skeleton").count()).toBe(0);
    expect(await violations(page), name).toEqual([]);
    expect(await overflow(page), `${name} fits the width`).toBeLessThanOrEqual(0);
    if (tag) await picture(page, `${name.toLowerCase()}-${tag}`);
  }
  expect(visitor.complaints).toEqual([]);
}

describe("the console's looks", () => {
  it("is accessible in light colours at a desk", async () => {
    const visitor = await visit(browser, town.address);
    await tour(visitor, "");
    await visitor.close();
  });
  it("is accessible in dark colours at a desk", async () => {
    const visitor = await visit(browser, town.address, { colorScheme: "dark" });
    await tour(visitor, "dark");
    await visitor.close();
  });
  it("is accessible and fits on a phone", async () => {
    const visitor = await visit(browser, town.address, phone);
    await tour(visitor, "phone");
    await visitor.close();
  });
  it("is accessible on a phone in dark colours", async () => {
    const visitor = await visit(browser, town.address, { ...phone, colorScheme: "dark" });
    await tour(visitor, "");
    await visitor.close();
  });
});

describe("the console by keyboard", () => {
  it("is used without a mouse, from the door to an answer", async () => {
    const { page, close, complaints } = await visit(browser, town.address);
    await page.keyboard.type("alice");
    await page.keyboard.press("Tab");
    await page.keyboard.type(passwords.alice);
    await page.keyboard.press("Enter");
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    await page.keyboard.press("/");
    await expect.poll(() => page.evaluate(() => document.activeElement?.className)).toBe("sql-editor");
    await page.keyboard.insertText("select count(*) as people from people");
    await page.locator(".error-picture").waitFor();
    await page.keyboard.press("Control+Enter");
    await page.locator(".big-value").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await expect.poll(() => page.evaluate(() => document.activeElement?.className)).not.toBe("sql-editor");
    await page.keyboard.press("g");
    await page.keyboard.press("d");
    await page.getByRole("heading", { level: 1, name: "Data" }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const before = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await page.keyboard.press("t");
    await expect.poll(() => page.evaluate(() => getComputedStyle(document.body).backgroundColor)).not.toBe(before);
    expect(complaints).toEqual([]);
    await close();
  });
  it("shows where the focus is", async () => {
    const { page, close } = await visit(browser, town.address);
    await logIn(page, "alice", passwords.alice);
    await page.getByRole("group", { name: "Example questions" }).waitFor();
    for (let i = 0; i < 12; ++i) {
      await page.keyboard.press("Tab");
      const visible = await page.evaluate(() => {
        const focused = document.activeElement;
        if (!focused || focused === document.body || focused.classList.contains("sql-editor")) return true;  // the editor's frame is lit instead
        const style = getComputedStyle(focused);
        return style.outlineStyle !== "none" && Number.parseFloat(style.outlineWidth) >= 2;
      });
      expect(visible, `stop ${i + 1}`).toBe(true);
    }
    await close();
  });
});

describe("the data page", () => {
  it("shows schema, protection and links, and only made-up rows", async () => {
    const { page, close, complaints } = await visit(browser, town.address);
    await logIn(page, "alice", passwords.alice);
    await open(page, "Data");
    await page.getByRole("navigation", { name: "Tables" }).getByRole("link", { name: /visits/ }).click();
    await page.getByRole("heading", { name: "visits" }).waitFor();
    const detail = await page.locator(".table-detail").textContent();
    expect(detail).toContain("At most 12 rows count per person");
    expect(detail).toContain("patients.patient_id");
    expect(detail).toContain("made up, not data");
    await page.getByRole("searchbox").fill("income");
    expect(await page.locator(".table-list li").count()).toBe(1);
    await page.getByRole("searchbox").fill("");
    await page.getByRole("navigation", { name: "Tables" }).getByRole("link", { name: /people/ }).click();
    await page.getByRole("heading", { name: "people" }).waitFor();
    const columns = await page.getByRole("group", { name: "Columns of people" }).textContent();
    expect(columns).toContain("income");
    expect(columns).not.toContain("address");  // hidden by the policy
    await picture(page, "data");
    expect(complaints).toEqual([]);
    await close();
  });
});

describe("when the server is gone", () => {
  it("says so and recovers", async () => {
    const { page, close } = await visit(browser, town.address);
    await logIn(page, "alice", passwords.alice);
    await page.route("**/v1/**", (route) => route.abort());
    await open(page, "Data");
    await page.getByText("The server cannot be reached.").first().waitFor();
    await page.unroute("**/v1/**");
    await page.getByRole("button", { name: "Try again" }).first().click();
    await page.getByRole("navigation", { name: "Tables" }).waitFor();
    await close();
  });
  it("asks to log in again when the session has ended", async () => {
    const { page, close } = await visit(browser, town.address);
    await logIn(page, "alice", passwords.alice);
    await page.route("**/v1/budget", (route) => route.fulfill({ status: 401, contentType: "application/json", body: '{"error":{"code":"28000","message":"no"}}' }));
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Budget" }).click();
    await page.getByText("Your session has ended").waitFor();
    await close();
  });
});
