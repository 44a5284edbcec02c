// One analyst's and one owner's day: log in, ask, see error bars, run out of budget, be granted more, ask again.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launch, logIn, open, picture, visit, write, type Visit } from "./browser";
import { passwords, startTown, type Town } from "./town";

let town: Town;
let browser: Browser;
let analyst: Visit;
let page: Page;

beforeAll(async () => {
  [town, browser] = await Promise.all([startTown("0.2"), launch()]);
  analyst = await visit(browser, town.address);
  page = analyst.page;
});
afterAll(async () => {
  await browser?.close();
  await town?.stop();
});

const byInsurance = "select insurance, marital_status, count(*) as patients\nfrom patients\ngroup by insurance, marital_status";
const bySex = "select sex, count(*) as people, avg(income) as income\nfrom people\ngroup by sex";

async function setEpsilon(epsilon: string): Promise<void> {
  const field = page.getByLabel("ε, exactly");
  await field.fill(epsilon);
  await field.press("Tab");
}

async function leftToSpend(): Promise<number> {
  const text = await page.locator(".rail-budget strong").textContent();
  return Number(text?.replace("ε", "").trim());
}

describe("a day with the console", () => {
  it("keeps strangers out, and says so in words", async () => {
    await picture(page, "login");
    await page.getByLabel("Name").fill("alice");
    await page.getByLabel("Password").fill("not her password");
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("alert").getByText("do not match").waitFor();
  });

  it("lets alice in and shows what she has", async () => {
    await logIn(page, "alice", passwords.alice);
    expect(await page.getByRole("navigation", { name: "Pages" }).getByRole("link").allTextContents()).toHaveLength(6);
    await page.locator(".rail-budget").waitFor();
    expect(await leftToSpend()).toBeCloseTo(0.2);
    await page.getByText("No questions yet").waitFor();
  });

  it("completes names from the catalog", async () => {
    await page.locator(".sql-editor .cm-content").click();
    await page.keyboard.type("select avg(inc");
    const offer = page.locator(".sql-editor .cm-tooltip-autocomplete li").first();
    await offer.waitFor();
    expect(await offer.textContent()).toContain("income");
    await page.keyboard.press("Escape");
  });

  it("tells the price and draws the expected error while one types, without spending", async () => {
    await setEpsilon("0.05");
    await write(page, byInsurance);
    await page.locator(".error-picture").getByText("patients").waitFor();
    expect(await page.locator(".price").textContent()).toContain("0.05");
    const expected = await page.locator(".error-size").first().textContent();
    await setEpsilon("0.1");
    await expect.poll(() => page.locator(".error-size").first().textContent()).not.toBe(expected);
    await setEpsilon("0.05");
    await expect.poll(() => page.locator(".error-size").first().textContent()).toBe(expected);
    expect(await leftToSpend()).toBeCloseTo(0.2);
  });

  it("refuses what cannot be private, and points at it", async () => {
    await write(page, "select income, zip from people");
    await page.locator(".price-panel").getByRole("alert").waitFor();
    expect(await page.locator(".price-panel").getByRole("alert").textContent()).toMatch(/SQLSTATE/);
  });

  it("answers with error bars in the chart and in the table", async () => {
    await write(page, byInsurance);
    await page.locator(".error-picture").waitFor();
    await page.locator(".sql-editor .cm-content").click();
    await page.keyboard.press("Control+Enter");
    await page.getByRole("heading", { name: "Answer" }).waitFor();
    const rows = page.locator(".result-table tbody tr");
    expect(await rows.count()).toBe(16);
    expect(await page.locator("svg.chart .whisker").count()).toBe(16);
    expect(await page.locator(".result-table .mini-error").count()).toBe(16);
    expect(await rows.first().locator(".result-error").textContent()).toMatch(/^±[\d.,]+$/);
    await expect.poll(leftToSpend).toBeCloseTo(0.15);
  });

  it("shows what the same question would give at other epsilons", async () => {
    const table = page.getByRole("group", { name: "Errors at other epsilons" });
    await table.waitFor();
    const errors = (await table.locator("tbody tr td:nth-child(2)").allTextContents()).map((text) => Number(text.replace(/[±,]/g, "")));
    expect(errors.length).toBeGreaterThanOrEqual(6);
    for (let i = 1; i < errors.length; ++i) expect(errors[i]).toBeLessThan(errors[i - 1]!);
    await page.getByLabel("Compare with").selectOption({ label: "ε 0.2" });
    expect(await page.locator("svg.chart .whisker-other").count()).toBe(16);
    await expect.poll(() => page.locator(".stale").count()).toBe(0);
    await picture(page, "ask");
  });

  it("gives the same answer again for free", async () => {
    const first = await page.locator(".result-table tbody").textContent();
    await page.getByRole("button", { name: /^Run/ }).click();
    await page.getByText("asked before: free").waitFor();
    expect(await page.locator(".result-table tbody").textContent()).toBe(first);
    expect(await leftToSpend()).toBeCloseTo(0.15);
  });

  it("warns before the budget does not reach, and refuses when asked all the same", async () => {
    await setEpsilon("0.18");
    await write(page, bySex);
    await page.getByText("More than is left").waitFor();
    await page.getByRole("button", { name: /^Run/ }).click();
    await page.getByText("The budget does not reach").waitFor();
    expect(await page.locator(".result-table").count()).toBe(0);
    expect(await leftToSpend()).toBeCloseTo(0.15);
    await page.getByRole("group", { name: "Errors at other epsilons" }).waitFor();
    await expect.poll(() => page.locator(".stale").count()).toBe(0);
    await picture(page, "refused");
  });

  it("shows every charge with its question and certificate", async () => {
    await open(page, "Budget");
    await page.getByText("Spending over time").waitFor();
    const charges = page.getByRole("group", { name: "Charges" }).locator("tbody tr");
    await expect.poll(() => charges.count()).toBe(1);
    expect(await charges.first().textContent()).toContain("select insurance");
    await page.getByRole("button", { name: /^Certificate/ }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    expect(await dialog.textContent()).toMatch(/sha256 [0-9a-f]{64}/);
    await picture(page, "certificate");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  });

  it("lets the owner grant more, who sees everybody", async () => {
    const owner = await visit(browser, town.address);
    await logIn(owner.page, "owner", passwords.owner);
    await open(owner.page, "Owner");
    await owner.page.getByLabel("Account").selectOption({ label: "alice (of default)" });
    await owner.page.getByLabel("ε to add").fill("0.1");
    await owner.page.getByRole("button", { name: "Grant" }).click();
    await owner.page.getByText("Granted ε 0.1 to alice.").waitFor();
    await owner.page.getByLabel("Name").fill("bob");
    await owner.page.getByLabel("Password").fill("bob counts beans");
    await owner.page.getByLabel("ε", { exact: true }).fill("0.5");
    await owner.page.getByRole("button", { name: "Add analyst" }).click();
    await owner.page.getByText("bob can log in now.").waitFor();
    const analysts = owner.page.getByRole("group", { name: "Analysts" });
    await expect.poll(() => analysts.textContent()).toMatch(/alice.*0\.25 of 0\.3.*bob/);
    await picture(owner.page, "owner");
    await open(owner.page, "Budget");
    await expect.poll(() => owner.page.locator(".account").count()).toBeGreaterThanOrEqual(4);
    expect(owner.complaints).toEqual([]);
    await owner.close();

    const newcomer = await visit(browser, town.address);
    await logIn(newcomer.page, "bob", "bob counts beans");
    await newcomer.close();
  });

  it("answers alice again after the grant", async () => {
    await open(page, "Ask");
    await expect.poll(async () => (await page.locator(".sql-editor .cm-content").textContent())?.includes("income")).toBe(true);
    await page.getByRole("button", { name: /^Run/ }).click();
    await page.getByRole("heading", { name: "Answer" }).waitFor();
    await expect.poll(() => page.locator(".result-table tbody tr").count()).toBe(2);
    await expect.poll(leftToSpend).toBeCloseTo(0.07);
    await open(page, "Budget");
    await expect.poll(() => page.getByRole("group", { name: "Charges" }).locator("tbody tr").count()).toBe(2);
    await picture(page, "budget");
  });

  it("forgets everything at logout", async () => {
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
    await page.goto(`${town.address}/#/budget`);
    await page.getByRole("heading", { name: "Log in" }).waitFor();
  });

  it("had no exception, no refused style or script, and no request to anywhere else", () => expect(analyst.complaints).toEqual([]));
});
