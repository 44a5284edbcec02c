// The emoji demo: randomises with the client package in this browser, and draws what the collector estimates.
import { BudgetExhausted, Client, ReportBudget, reportLine } from "./client/index.js";

const EPSILONS = [0.5, 1, 2, 4, 8];
const MINE = 20; // what one visitor of this page may give in all
const $ = (id) => document.getElementById(id);
const number = new Intl.NumberFormat("en");

const clients = new Map(); // epsilon -> { mine, crowd, labels }
const truth = new Map(); // epsilon -> counts typed through this page
const budget = new ReportBudget(MINE, localStorage, "discreet-emoji");
let epsilon = 1;
const nameOf = (e) => (e === 1 ? "emoji" : `emoji-${e}`); // the collection of this epsilon

async function client(e) {
  if (!clients.has(e)) {
    const header = (await (await fetch(`v1/collections/${nameOf(e)}`)).text()).trim();
    const mine = new Client(header, budget);
    // Made-up people have budgets of their own, and this page plays all of them.
    const crowd = new Client(header, new ReportBudget(Number.MAX_VALUE));
    clients.set(e, { mine, crowd, labels: mine.spec.labels });
    truth.set(e, new Array(mine.spec.labels.length).fill(0));
  }
  return clients.get(e);
}

async function send(e, lines) {
  const answer = await fetch(`v1/collections/${nameOf(e)}/reports`, {
    method: "POST",
    headers: { "Content-Type": "application/x-ndjson" },
    body: lines.join("\n"),
  });
  if (!answer.ok) throw new Error((await answer.json()).error);
  return answer.json();
}

function meaningOf(spec, report) {
  const p = Math.exp(spec.epsilon);
  if (spec.oracle === "grr") return `"${spec.labels[report[0]]}" - which you may or may not have typed: with chance ${Math.round((100 * (spec.values - 1)) / (p + spec.values - 1))} % it is a random other one.`;
  if (spec.oracle === "ss") {
    const set = spec.labels.filter((_, i) => (report[i >> 3] >> (i & 7)) & 1);
    return `"one of ${set.join(" ")}" - and with chance ${Math.round((100 * (spec.values - spec.subset)) / (spec.subset * p + spec.values - spec.subset))} % yours is not among them.`;
  }
  return `${report.length} bytes that fit several emoji; the true one only a little better.`;
}

function showBudget() {
  $("budget-bar").style.width = `${Math.min(100, (100 * budget.spent) / MINE)}%`;
  $("budget").textContent = `You have given epsilon ${budget.spent} of the ${MINE} you agreed to. Then your device stops reporting.`;
}

async function type(emoji) {
  const { mine, labels } = await client(epsilon);
  const index = labels.indexOf(emoji);
  if (index < 0) return;
  let report;
  try {
    report = mine.report(emoji);
  } catch (error) {
    if (!(error instanceof BudgetExhausted)) throw error;
    $("typed").textContent = emoji;
    $("report").textContent = "nothing";
    $("meaning").textContent = "Your budget is spent: your device refuses to say more.";
    return;
  }
  $("typed").textContent = emoji;
  $("report").textContent = reportLine(report);
  $("meaning").textContent = meaningOf(mine.spec, report);
  showBudget();
  truth.get(epsilon)[index] += 1;
  await send(epsilon, [reportLine(report)]);
  await refresh();
}

/** Zipf-like tastes, the same for every crowd. */
function taste(count) {
  const weights = Array.from({ length: count }, (_, i) => 1 / (i + 1));
  const whole = weights.reduce((a, b) => a + b, 0);
  const u = crypto.getRandomValues(new Uint32Array(1))[0] / 2 ** 32;
  let sum = 0;
  for (let i = 0; i < count; ++i) if (u < (sum += weights[i] / whole)) return i;
  return count - 1;
}

async function letCrowdType(people) {
  const buttons = document.querySelectorAll("[data-people]");
  buttons.forEach((b) => (b.disabled = true));
  const e = epsilon;
  const { crowd, labels } = await client(e);
  try {
    for (let done = 0; done < people; ) {
      const lines = [];
      const counts = new Array(labels.length).fill(0);
      for (let i = Math.min(500, people - done); i > 0; --i) {
        const typed = taste(labels.length);
        counts[typed] += 1;
        lines.push(reportLine(crowd.report(labels[typed])));
      }
      await send(e, lines);
      counts.forEach((c, i) => (truth.get(e)[i] += c));
      done += lines.length;
      $("progress").textContent = `${number.format(done)} of ${number.format(people)} people have reported`;
      await new Promise((resume) => setTimeout(resume));
    }
  } catch (error) {
    $("progress").textContent = `The collector did not take the reports: ${error.message}`;
  }
  buttons.forEach((b) => (b.disabled = false));
  await refresh();
}

function row(label) {
  const element = document.createElement("div");
  element.className = "row";
  element.dataset.emoji = label;
  element.innerHTML = `<div class="emoji"></div><div class="track"><div class="bar"></div><div class="truth" hidden></div><div class="whisker"></div></div><div class="number"></div>`;
  element.querySelector(".emoji").textContent = label;
  return element;
}

function draw(table) {
  const n = table.reports;
  const bars = $("bars");
  const known = truth.get(epsilon) ?? [];
  const knowsAll = n > 0 && known.reduce((a, b) => a + b, 0) === n;
  if (bars.children.length !== table.rows.length) bars.replaceChildren(...table.rows.map((r) => row(r.value)));
  const most = Math.max(0.05, ...table.rows.map((r) => (n ? Math.min(1, r.high / n) : 0)));
  const at = (share) => `${(100 * Math.min(Math.max(share, 0), most)) / most}%`;
  let worst = 0;
  table.rows.forEach((r, i) => {
    const element = bars.children[i];
    const [bar, tick, whisker] = [".bar", ".truth", ".whisker"].map((c) => element.querySelector(c));
    const share = n ? r.estimate / n : 0;
    bar.style.width = at(share);
    const low = n ? r.low / n : 0;
    const high = n ? r.high / n : 0;
    whisker.style.left = at(low);
    whisker.style.width = `${(100 * (Math.min(high, most) - low)) / most}%`;
    whisker.hidden = n === 0;
    tick.hidden = !knowsAll;
    if (knowsAll) {
      tick.style.left = `calc(${at(known[i] / n)} - 1px)`;
      worst = Math.max(worst, Math.abs(share - known[i] / n));
    }
    element.querySelector(".number").textContent = n ? `${(100 * share).toFixed(1).replace("-0.0", "0.0")} % ± ${(196 * r.stderr / n).toFixed(1)}` : "";
  });
  $("summary").textContent = n === 0 ? "No reports yet." :
    `${number.format(n)} reports` + (knowsAll ? `; the largest error is ${(100 * worst).toFixed(1)} percentage points.` : ".");
  bars.dataset.reports = String(n);
  bars.dataset.worst = String(worst);
  bars.dataset.epsilon = String(epsilon);
}

let asking = false;
async function refresh() {
  if (asking) return;
  asking = true;
  try {
    const e = epsilon;
    await client(e);
    const table = await (await fetch(`v1/collections/${nameOf(e)}/estimates`)).json();
    if (e === epsilon) draw(table);
  } catch {
    $("summary").textContent = "The collector does not answer.";
  }
  asking = false;
}

async function choose(index) {
  epsilon = EPSILONS[index];
  $("epsilon-value").textContent = `ε = ${epsilon}`;
  const { mine } = await client(epsilon);
  const factor = Math.exp(epsilon);
  $("explain").textContent = `No report is more than ${factor < 10 ? factor.toFixed(1) : number.format(Math.round(factor))} times likelier for one emoji than for another. ` +
    (epsilon <= 0.5 ? "Strong: nothing can be told from one person, so many are needed." : epsilon <= 1 ? "Good: deniable, and a crowd of thousands is enough." : epsilon <= 2 ? "Fair: what is commonly deployed." : epsilon <= 4 ? "Weak: a report usually tells the truth." : "Hardly any: a report is almost always the truth.") +
    ` (${mine.spec.oracle.toUpperCase()}, ${mine.oracle.reportBytes} byte${mine.oracle.reportBytes > 1 ? "s" : ""} a report)`;
  await refresh();
}

const { labels } = await client(epsilon);
for (const label of labels) {
  const key = document.createElement("button");
  key.textContent = label;
  key.addEventListener("click", () => type(label));
  $("keys").append(key);
}
$("stops").replaceChildren(...EPSILONS.map((e) => Object.assign(document.createElement("span"), { textContent: e })));
$("typing").addEventListener("input", async (event) => {
  const text = event.target.value;
  event.target.value = "";
  for (const { segment } of new Intl.Segmenter().segment(text)) await type(segment);
});
$("epsilon").addEventListener("input", (event) => choose(Number(event.target.value)));
document.querySelectorAll("[data-people]").forEach((button) =>
  button.addEventListener("click", () => letCrowdType(Number(button.dataset.people))));
showBudget();
await choose(1);
document.body.dataset.ready = "yes";
setInterval(refresh, 800);
