// The Learn page: every step can be reached and read, and its picture follows the sliders.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { overflow, violations } from "./access";
import { launch, logIn, open, picture, visit, type Visit } from "./browser";
import { passwords, startTown, type Town } from "./town";

let town: Town;
let browser: Browser;
let visitor: Visit;
let page: Page;

beforeAll(async () => {
  [town, browser] = await Promise.all([startTown("1", 2000), launch()]);
  visitor = await visit(browser, town.address);
  page = visitor.page;
  await logIn(page, "alice", passwords.alice);
  await open(page, "Learn");
});
afterAll(async () => {
  await browser?.close();
  await town?.stop();
});

const titles = () => page.getByRole("navigation", { name: "Steps" }).getByRole("link").allTextContents();

/** What the picture and the numbers say, to compare before and after a slider moved. */
async function shown(): Promise<string> {
  return page.locator(".demonstration").evaluate((box) => [...box.querySelectorAll("path, .readings dd, td, .choice-chance, .heap-with")]
    .map((part) => part.getAttribute("d") ?? part.getAttribute("height") ?? part.getAttribute("style") ?? part.textContent).join("|"));
}

describe("the Learn page", () => {
  it("moves every picture with every slider", async () => {
    const names = await titles();
    expect(names.length).toBeGreaterThanOrEqual(21);
    for (let i = 0; i < names.length; ++i) {
      await page.getByRole("navigation", { name: "Steps" }).getByRole("link").nth(i).click();
      await expect.poll(() => page.locator(".learn-step h2").textContent()).toBe(names[i]!.replace(/^\d+/, ""));
      const sliders = page.locator(".demonstration input[type=range]");
      for (let s = 0; s < (await sliders.count()); ++s) {
        const before = await shown();
        await sliders.nth(s).focus();
        await page.keyboard.press("Home");
        await page.keyboard.press("ArrowRight");
        await expect.poll(shown, { message: `${names[i]}, slider ${s + 1}` }).not.toBe(before);
      }
      expect(await violations(page), names[i]).toEqual([]);
      expect(await overflow(page)).toBeLessThanOrEqual(0);
    }
  });

  it("keeps a cheater's number out of the two servers' sum", async () => {
    await page.goto(`${town.address}/#/learn/shares`);
    await page.reload();
    await page.getByRole("heading", { name: "Two servers that see nothing" }).waitFor();
    const sum = page.locator(".readings > div").filter({ hasText: "together" }).locator("dd");
    expect(await sum.textContent()).toBe("25");
    await page.getByLabel(/Esme cheats/).check();
    await page.getByText("refused").waitFor();
    await expect.poll(() => sum.textContent()).toBe("20");
  });

  it("is walked with the arrow keys", async () => {
    await page.goto(`${town.address}/#/learn/worlds`);
    await page.getByRole("heading", { name: "Two worlds, one answer" }).waitFor();
    await page.locator("main").focus();
    await page.keyboard.press("ArrowRight");
    await page.getByRole("heading", { name: "What an answer can teach" }).waitFor();
    await picture(page, "learn");
    await page.keyboard.press("ArrowLeft");
    await page.getByRole("heading", { name: "Two worlds, one answer" }).waitFor();
    for (const step of ["curse", "needle", "sensitivity", "counts", "linear", "loss", "smoker", "sparse", "stream", "overfit", "choice", "price", "towns", "shares"]) {
      await page.goto(`${town.address}/#/learn/${step}`);
      await page.waitForTimeout(100);
      await picture(page, `learn-${step}`);
    }
    expect(visitor.complaints).toEqual([]);
  });
});
