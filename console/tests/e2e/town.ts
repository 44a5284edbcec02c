// A small town served by the real program, for one test file: its own folder, ports and ledger.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const build = resolve(process.env["DISCREET_BUILD"] ?? "../build");
const discreet = process.env["DISCREET"] ?? join(build, "bin/discreet");
const consoleFiles = process.env["DISCREET_CONSOLE"] ?? join(build, "console");

export const passwords = { owner: "the owner knows best", alice: "alice asks questions", clerk: "the clerk keeps books" };

/** The clerk may ask about people, their grades and the wards only. */
const clerk = `
[analysts.clerk]
budget = { epsilon = 1.0, delta = 1e-8, of = "default" }
tables = ["people", "grades", "wards"]
`;

export interface Town {
  address: string;
  policy: string;
  stop: () => Promise<void>;
}

function run(input: string | null, ...words: string[]): string {
  const result = spawnSync(discreet, words, { encoding: "utf8", ...(input === null ? {} : { input }) });
  if (result.status !== 0) throw new Error(`discreet ${words.join(" ")}: ${result.stderr}${result.error ?? ""}`);
  return result.stdout;
}

/** Alice may spend `epsilon`; the owner is the user of that name. */
export async function startTown(epsilon: string, people = 20_000, more: string[] = []): Promise<Town> {
  const folder = mkdtempSync(join(tmpdir(), "discreet-console-"));
  const policy = join(folder, "discreet.toml");
  run(null, "town", "--people", String(people), "--seed", "1", "--out", folder);
  appendFileSync(policy, clerk);
  run(`${passwords.clerk}\n`, "user", "add", "clerk", "--policy", policy, "--password-stdin");
  run(`${passwords.owner}\n`, "user", "add", "owner", "--policy", policy, "--budget", "2,2e-8", "--password-stdin");
  run(`${passwords.alice}\n`, "user", "add", "alice", "--policy", policy, "--budget", `${epsilon},1e-8`, "--password-stdin");
  const server = spawn(discreet, ["serve", "--policy", policy, "--pg-port", "0", "--http-port", "0", "--console", consoleFiles, "--reports", join(folder, "reports"), "--docs", join(build, "docs"), ...more], { stdio: ["ignore", "pipe", "pipe"] });
  const log = keepLog(server);
  const address = await readyAddress(server, log);
  const stop = async () => {
    const ended = new Promise<number | null>((done) => server.once("exit", done));
    if (server.exitCode !== null || server.signalCode !== null) throw new Error(`the server had ended by itself (${server.exitCode ?? server.signalCode}): ${log().slice(-2000)}`);
    server.kill("SIGTERM");
    if ((await ended) !== 0) throw new Error(`SIGTERM did not end the server cleanly: ${log().slice(-2000)}`);
    rmSync(folder, { recursive: true, force: true });
  };
  return { address, policy, stop };
}

function keepLog(server: ChildProcess): () => string {
  let log = "";
  server.stderr!.on("data", (part) => (log += part));
  return () => log;
}

function readyAddress(server: ChildProcess, log: () => string): Promise<string> {
  return new Promise((done, fail) => {
    let out = "";
    const timer = setTimeout(() => fail(new Error(`the server was not ready within 60 s: ${log()}`)), 60_000);
    server.stdout!.on("data", (part) => {
      out += part;
      const found = /ready .*http=(\S+)/.exec(out);
      if (!found) return;
      clearTimeout(timer);
      done(`http://${found[1]}`);
    });
    server.once("exit", (code) => {
      clearTimeout(timer);
      fail(new Error(`discreet serve ended with ${code}: ${log()}`));
    });
  });
}
