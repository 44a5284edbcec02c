// The lab, moved as a visitor moves it: what the sliders do to the numbers.
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
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
  await open(page, "Lab");
});
afterAll(async () => {
  await browser?.close();
  await town?.stop();
});

const experiment = (title: string): Locator => page.getByRole("region", { name: title });

async function reading(title: string, label: RegExp): Promise<number> {
  const group = experiment(title).locator(".readings > div").filter({ has: page.locator("dt", { hasText: label }) });
  const text = (await group.locator("dd").textContent()) ?? "";
  return Number(text.replace(/[±×%ε, ]/g, ""));
}

/** To an end of a slider, by keyboard. */
async function slide(title: string, label: string, key: "Home" | "End"): Promise<void> {
  await experiment(title).getByLabel(label).focus();
  await page.keyboard.press(key);
}

describe("the lab", () => {
  it("shows less noise and better guesses as epsilon grows", async () => {
    await slide("Noise against epsilon", "Epsilon", "Home");
    const [error, guess] = [await reading("Noise against epsilon", /95 % error/), await reading("Noise against epsilon", /best guess/)];
    expect(error).toBeGreaterThan(100);
    expect(guess).toBeLessThan(51);
    await slide("Noise against epsilon", "Epsilon", "End");
    expect(await reading("Noise against epsilon", /95 % error/)).toBeLessThan(1);
    expect(await reading("Noise against epsilon", /best guess/)).toBeGreaterThan(98);
  });

  it("estimates the share from randomized answers, better with more people", async () => {
    await slide("Randomized response", "People asked", "Home");
    const few = await reading("Randomized response", /^95 % error/);
    await slide("Randomized response", "People asked", "End");
    const many = await reading("Randomized response", /^95 % error/);
    expect(many).toBeLessThan(few / 10);
    expect(Math.abs((await reading("Randomized response", /estimate/)) - 30)).toBeLessThan(4 * many);
  });

  it("finds anybody's secret in exact totals and is no better than its bound on private ones", async () => {
    const lab = experiment("Differencing");
    for (const i of [0, 5, 11]) {
      await lab.locator(".resident").nth(i).click();
      expect(await lab.getByRole("status").textContent()).toContain("knows");
    }
    expect(await reading("Differencing", /attack is right/)).toBe(100);
    await lab.getByRole("button", { name: "Private answers" }).click();
    const [right, bound] = [await reading("Differencing", /attack is right/), await reading("Differencing", /at most/)];
    expect(bound).toBeLessThan(65);
    expect(right).toBeLessThanOrEqual(bound + 5);  // six standard errors of 4,000 attacks
  });

  it("averages fresh noise away but not a repeated answer", async () => {
    expect(await reading("Averaging", /fresh noise/)).toBeLessThan(3);
    expect(await reading("Averaging", /repeated answer/)).toBeGreaterThan(3);
  });

  it("reconstructs nearly everybody from accurate counts and nobody from noisy ones", async () => {
    await slide("Reconstruction", "Noise, as a multiple of √n", "Home");
    expect(await reading("Reconstruction", /bits found/)).toBe(100);
    await slide("Reconstruction", "Noise, as a multiple of √n", "End");
    expect(await reading("Reconstruction", /bits found/)).toBeLessThan(80);
  });

  it("spends nothing and complains about nothing", async () => {
    await page.evaluate(() => scrollTo(0, 0));
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Lab" }).waitFor();
    await page.locator(".rail-budget").waitFor();
    await picture(page, "lab");
    await experiment("Differencing").scrollIntoViewIfNeeded();
    await page.getByRole("link", { name: "Differencing" }).click();
    await picture(page, "lab-differencing");
    await page.getByRole("link", { name: "Reconstruction" }).click();
    await picture(page, "lab-reconstruction");
    await open(page, "Budget");
    await page.getByText("Nothing spent yet").waitFor();
    expect(visitor.complaints).toEqual([]);
  });
});
