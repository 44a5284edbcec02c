// The emoji demo in a real browser: typing sends randomised reports, the dashboard converges, the slider matters.
//   node --test test/demo.test.mjs      with DISCREET=path of the program; DISCREET_SHOTS=folder keeps screenshots
// Says so and passes over when Chromium or playwright-core is not installed.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";

const program = process.env.DISCREET ?? "build/bin/discreet";
const chromium = process.env.CHROMIUM ?? "/usr/bin/chromium";
const playwright = await import("playwright-core").catch(() => null);
const missing = !playwright ? "playwright-core is not installed" : !existsSync(chromium) ? "there is no Chromium" : false;
const folder = mkdtempSync(join(tmpdir(), "discreet-demo-"));
let server, address, browser, page;
const sent = []; // bodies of what left the browser

before(async () => {
  if (missing) return;
  server = spawn(program, ["local", "serve", "--demo", "--http-port", "0", "--folder", folder], { stdio: ["ignore", "pipe", "ignore"] });
  for await (const line of createInterface({ input: server.stdout })) {
    const ready = /^ready http=(\S+)$/.exec(line);
    if (ready) { address = `http://${ready[1]}`; break; }
  }
  browser = await playwright.chromium.launch({ executablePath: chromium, args: ["--no-sandbox"] });
  page = await browser.newPage({ viewport: { width: 1180, height: 930 } });
  page.on("request", (request) => { if (request.method() === "POST") sent.push(request.postData()); });
  page.on("pageerror", (error) => { throw error; });
  await page.goto(address);
  await page.waitForSelector("body[data-ready=yes]");
});

after(async () => {
  await browser?.close();
  server?.kill("SIGTERM");
  rmSync(folder, { recursive: true, force: true });
});

const shot = async (name) => {
  if (process.env.DISCREET_SHOTS) await page.screenshot({ path: join(process.env.DISCREET_SHOTS, name) });
};
const bars = () => page.locator("#bars").evaluate((e) => ({ ...e.dataset }));
const waitForReports = (n) => page.waitForFunction((wanted) => Number(document.getElementById("bars").dataset.reports) >= wanted, n, { timeout: 60000 });
/** Average length of the error bars, in shares. */
const spread = async () => {
  const name = await page.locator("#bars").evaluate((e) => (e.dataset.epsilon === "1" ? "emoji" : `emoji-${e.dataset.epsilon}`));
  const table = await (await fetch(`${address}/v1/collections/${name}/estimates`)).json();
  return table.rows.reduce((sum, r) => sum + r.stderr, 0) / table.rows.length / table.reports;
};

test("typing an emoji sends a randomised report and shows what left the device", { skip: missing }, async () => {
  await page.locator("#keys button").first().click();
  await waitForReports(1);
  assert.equal(sent.length, 1);
  assert.match(sent[0], /^"[0-9a-f]+"$/);
  assert.equal(await page.locator("#report").textContent(), sent[0]);
  assert.match(await page.locator("#budget").textContent(), /given epsilon 1 of the 20/);
  await page.locator("#typing").fill("😍😂");
  await waitForReports(3);
  assert.equal(sent.length, 3);
  for (const body of sent) assert.ok(!/\p{Extended_Pictographic}/u.test(body), "no emoji leaves the browser");
});

test("the dashboard converges to the crowd's truth", { skip: missing }, async () => {
  await page.locator("#crowd-1000").click();
  await waitForReports(1003);
  const few = await bars();
  await page.locator("#crowd-10000").click();
  await waitForReports(11003);
  await page.waitForFunction(() => document.getElementById("bars").dataset.worst !== "0");
  const many = await bars();
  await page.waitForTimeout(600);
  await shot("local-demo.png");
  // Seven standard errors of a share at epsilon 1 from 11,003 reports by the oracle in use, for any of 20 emoji.
  const limit = 7 * (await spread());
  console.log(`largest error ${few.worst} from 1,003 reports, ${many.worst} from 11,003 (limit ${limit.toFixed(3)}, false alarm below 1e-10)`);
  assert.ok(Number(many.worst) < limit);
});

test("the slider shows what epsilon does", { skip: missing }, async () => {
  const measured = {};
  for (const [index, epsilon] of [[0, 0.5], [3, 4]]) {
    await page.locator("#epsilon").fill(String(index));
    await page.waitForFunction((e) => document.getElementById("bars").dataset.epsilon === String(e), epsilon);
    await page.locator("#crowd-10000").click();
    await waitForReports(10000);
    await page.waitForTimeout(600);
    measured[epsilon] = await spread();
    await shot(`local-demo-epsilon-${epsilon}.png`);
  }
  console.log("standard error of a share", measured);
  assert.ok(measured[0.5] > 5 * measured[4], "error bars shrink as epsilon grows");
});

test("a spent budget stops the device, not the page", { skip: missing }, async () => {
  await page.locator("#epsilon").fill("4");
  await page.waitForFunction(() => document.getElementById("bars").dataset.epsilon === "8");
  const before = sent.length;
  for (let i = 0; i < 4; ++i) await page.locator("#keys button").nth(2).click();
  await page.waitForFunction(() => document.getElementById("meaning").textContent.includes("refuses"));
  assert.equal(sent.length - before, 2, "3 + 8 + 8 of 20 fit, another 8 does not");
  await shot("local-demo-budget.png");
});
