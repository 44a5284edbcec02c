// Answers with several keys as coloured tables and tiles, errors before a bound is known, and an analyst who may see few tables.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { overflow, violations } from "./access";
import { launch, logIn, open, picture, visit, write, type Visit } from "./browser";
import { passwords, startTown, type Town } from "./town";

let town: Town;
let browser: Browser;
let visitor: Visit;
let page: Page;

beforeAll(async () => {
  [town, browser] = await Promise.all([startTown("3", 5000), launch()]);
  visitor = await visit(browser, town.address);
  page = visitor.page;
  await logIn(page, "alice", passwords.alice);
});
afterAll(async () => {
  await browser?.close();
  await town?.stop();
});

const cube = "select race, marital_status, count(*) as people\nfrom people\ngroup by cube (race, marital_status)";
const rollup = "select school, course, count(*) as courses\nfrom grades\ngroup by rollup (school, course)";

async function ask(at: Page, sql: string, epsilon: string): Promise<void> {
  await at.getByLabel("ε, exactly").fill(epsilon);
  await at.getByLabel("ε, exactly").press("Tab");
  await expect.poll(() => at.getByLabel("ε, exactly").inputValue()).toBe(epsilon);
  await write(at, sql);
  await at.locator(".error-picture").first().waitFor();
  await at.keyboard.press("Escape");
  await at.getByRole("button", { name: /^Run/ }).click();
  await at.getByRole("heading", { name: "Answer" }).waitFor();
  await expect.poll(() => at.getByText("To the question asked before").count(), { timeout: 60_000 }).toBe(0);
}

const whole = (text: string | null) => Number(text?.replace(/[,±]/g, "").replace("−", "-"));

describe("answers with several keys", () => {
  it("stand in a coloured table with their errors, and its subtotals add up", async () => {
    await ask(page, cube, "0.2");
    const table = page.locator("table.heat");
    await table.waitFor();
    const numbers = (await table.locator(".heat-value").allTextContents()).map(whole);
    expect(numbers).toHaveLength(6 * 5);
    const [down, across] = [6, 5];  // race down with "all", marital status across with "all"
    for (let r = 0; r < down; ++r) {
      const row = numbers.slice(r * across, (r + 1) * across);
      expect(row.slice(0, -1).reduce((sum, value) => sum + value, 0), `row ${r + 1}`).toBe(row[across - 1]);
    }
    expect(await table.locator(".heat-error").count()).toBe(30);
    expect(await table.locator("td[title*='all, all']").getAttribute("title")).toMatch(/±/);
    expect(await table.locator(".heat-weak, .heat-lost, .heat-fair").count()).toBeGreaterThan(0);
    expect(await violations(page), "table").toEqual([]);
    await table.scrollIntoViewIfNeeded();
    await picture(page, "ask-table");
    await page.getByRole("group", { name: "Key across" }).getByRole("button", { name: "race" }).click();
    expect(await table.locator("thead th").allTextContents()).toContain("all race");
    await page.getByRole("group", { name: "Picture" }).getByRole("button", { name: "Tiles" }).click();
    await page.locator("svg.tiles").waitFor();
    expect(await page.locator(".tile").count()).toBeGreaterThan(5);
  });

  it("are drawn as nested tiles where they are rolled up", async () => {
    await ask(page, rollup, "0.2");
    await page.locator("svg.tiles").waitFor();
    expect(await page.locator("svg.tiles .tile-frame").count()).toBeGreaterThanOrEqual(3);
    expect(await page.locator("svg.tiles .tile-head").first().textContent()).toMatch(/[a-z]+ .*\d/);
    expect(await page.locator("svg.tiles").getAttribute("aria-label")).toMatch(/school, then course/);
    expect(await violations(page), "tiles").toEqual([]);
    await page.locator("svg.tiles").scrollIntoViewIfNeeded();
    await picture(page, "ask-tiles");
  });

  it("are read in the dark and on a phone", async () => {
    const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 1, isMobile: true, hasTouch: true };
    for (const [tag, options] of [["dark", { colorScheme: "dark" as const }], ["phone", phone]] as const) {
      const other = await visit(browser, town.address, options);
      await logIn(other.page, "alice", passwords.alice);
      for (const [sql, kind, what] of [[cube, "table", "table.heat"], [rollup, "tiles", "svg.tiles"]] as const) {
        await ask(other.page, sql, "0.2");
        await other.page.getByText("asked before: free").waitFor();
        await other.page.locator(what).waitFor();
        expect(await violations(other.page), `${kind}, ${tag}`).toEqual([]);
        expect(await overflow(other.page), `${kind}, ${tag}`).toBeLessThanOrEqual(0);
        await other.page.locator(what).evaluate((element) => element.scrollIntoView({ block: "center" }));
        await picture(other.page, `ask-${kind}-${tag}`);
      }
      expect(other.complaints).toEqual([]);
      await other.close();
    }
  });
});

describe("an error that waits for a bound", () => {
  it("is drawn against the bound that will be found, and moves with epsilon", async () => {
    await page.reload();
    await page.getByRole("group", { name: "Example questions" }).waitFor();
    await page.getByLabel("ε, exactly").fill("0.2");
    await page.getByLabel("ε, exactly").press("Tab");
    await write(page, "select ward, count(*) as stays, avg(days) as days\nfrom visits\ngroup by ward");
    const size = page.locator(".error-picture", { hasText: "rows one person may add" }).first().locator(".error-size");
    await size.waitFor();
    await expect.poll(() => page.locator(".stale").count()).toBe(0);
    const before = whole((await size.textContent())!.replace(/ .*/, ""));
    await page.getByLabel("ε, exactly").fill("0.4");
    await page.getByLabel("ε, exactly").press("Tab");
    await expect.poll(async () => whole((await size.textContent())!.replace(/ .*/, "")) / before).toBeCloseTo(0.5, 1);
    expect(await violations(page), "bound").toEqual([]);
    await picture(page, "ask-bound");
    expect(visitor.complaints).toEqual([]);
  });
});

describe("an analyst with few tables", () => {
  it("sees those only, on every page, and is told that there are no others", async () => {
    const clerk = await visit(browser, town.address);
    await logIn(clerk.page, "clerk", passwords.clerk);
    await open(clerk.page, "Data");
    const list = clerk.page.locator(".table-list li");
    await expect.poll(() => list.count()).toBe(3);
    const listed = (await list.allTextContents()).join(" ");
    for (const own of ["people", "grades", "wards"]) expect(listed).toContain(own);
    const words = (await clerk.page.locator("main").textContent()) ?? "";
    for (const other of ["voters", "patients", "trial", "visits"]) expect(words).not.toContain(other);
    await open(clerk.page, "Ask");
    await clerk.page.locator(".sql-editor .cm-content").click();
    await clerk.page.keyboard.type("select count(*) from gr");
    await clerk.page.locator(".cm-tooltip-autocomplete").waitFor();
    expect((await clerk.page.locator(".cm-tooltip-autocomplete li").allTextContents()).join(" ")).toContain("grades");
    await clerk.page.keyboard.press("Escape");
    await write(clerk.page, "select count(*) as n from patients");
    await clerk.page.getByText("there is no table 'patients'").first().waitFor();
    await clerk.page.keyboard.press("Escape");
    await clerk.page.getByRole("button", { name: /^Run/ }).click();
    await expect.poll(() => clerk.page.getByText("there is no table 'patients'").count()).toBeGreaterThan(0);
    expect(await clerk.page.locator(".result-table").count()).toBe(0);
    await open(clerk.page, "Budget");
    await expect.poll(() => clerk.page.locator(".account").count()).toBe(2);
    expect(clerk.complaints).toEqual([]);
    await clerk.close();
  });
});
