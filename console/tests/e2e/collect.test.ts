// Reports arrive while the page is open: the bars follow, with their errors.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launch, logIn, open, picture, visit, type Visit } from "./browser";
import { passwords, startTown, type Town } from "./town";

let town: Town;
let browser: Browser;
let visitor: Visit;
let page: Page;

beforeAll(async () => {
  [town, browser] = await Promise.all([startTown("1", 2000, ["--emoji"]), launch()]);
  visitor = await visit(browser, town.address);
  page = visitor.page;
  await logIn(page, "alice", passwords.alice);
});
afterAll(async () => {
  await browser?.close();
  await town?.stop();
});

describe("collecting", () => {
  it("says that nothing has come, and where reports go", async () => {
    await open(page, "Collect");
    await page.getByText("No reports yet").waitFor();
  });

  it("shows the crowd of the emoji page with error bars, and no person", async () => {
    const device = await visit(browser, `${town.address}/emoji/`);
    await device.page.waitForSelector("body[data-ready=yes]");
    await device.page.locator("[data-people='1000']").click();
    await device.page.locator("#bars[data-reports='1000']").waitFor({ timeout: 30_000 });
    await page.goto(`${town.address}/#/collect/emoji`);
    await page.getByRole("status").filter({ hasText: "1,000 reports" }).waitFor();
    const chart = page.getByRole("img", { name: /people, estimated/ });
    expect(await chart.locator(".whisker").count()).toBe(20);
    await picture(page, "collect");
    expect(device.complaints).toEqual([]);
    expect(visitor.complaints).toEqual([]);
    await device.close();
  });
});
