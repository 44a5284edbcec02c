// The documentation as `make docs` builds it: served under /docs, and from the disk without any server; the search works in both.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { violations } from "./access";
import { launch, visit } from "./browser";
import { startTown, type Town } from "./town";

const build = resolve(process.env["DISCREET_BUILD"] ?? "../build");
const site = join(build, "docs");

describe.skipIf(!existsSync(join(site, "index.html")))("the documentation", () => {
  let town: Town;
  let browser: Browser;
  beforeAll(async () => {
    [town, browser] = await Promise.all([startTown("1", 200), launch()]);
  });
  afterAll(async () => {
    await browser?.close();
    await town?.stop();
  });

  it("is served under /docs within the server's own security policy", async () => {
    const { page, complaints, close } = await visit(browser, town.address);
    await page.goto(`${town.address}/docs`);
    await page.waitForURL(/\/docs\/index\.html$/);
    await page.getByRole("searchbox").fill("smoker premium");
    await page.locator("#results a").first().waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/lectures\//);
    expect(await page.locator("article h1").count()).toBe(1);
    const broken = await page.locator("article img").evaluateAll((images) => images.filter((image) => !(image as HTMLImageElement).naturalWidth).map((image) => image.getAttribute("src")));
    expect(broken).toEqual([]);
    expect(await violations(page)).toEqual([]);
    expect(complaints).toEqual([]);
    const outside = await page.request.get(`${town.address}/docs/nothing-here.html`);
    expect(outside.status()).toBe(404);
    await close();
  });

  it("is searched from the disk, without any server", async () => {
    const address = pathToFileURL(join(site, "index.html")).href;
    const { page, complaints, close } = await visit(browser, address.replace(/index\.html$/, ""));
    await page.goto(address);
    await page.getByRole("searchbox").fill("sparse vector");
    await page.locator("#results a").first().waitFor();
    expect(await page.locator("#results a").count()).toBeGreaterThan(2);
    await page.getByRole("searchbox").fill("zzzzqqq");
    await page.getByText("Nothing found.").waitFor();
    expect(complaints).toEqual([]);
    await close();
  });
});
