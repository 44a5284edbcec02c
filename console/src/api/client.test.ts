import { afterEach, describe, expect, it, vi } from "vitest";
import { ApiError, Client, errorFromBody } from "./client";

function answerWith(status: number, body: unknown): ReturnType<typeof vi.fn> {
  const fetch = vi.fn(async () => new Response(typeof body === "string" ? body : JSON.stringify(body), { status }));
  vi.stubGlobal("fetch", fetch);
  return fetch;
}

afterEach(() => vi.unstubAllGlobals());

describe("the client", () => {
  it("sends the token and the question", async () => {
    const fetch = answerWith(200, { rows: [] });
    await new Client("secret").query({ sql: "select 1", epsilon: 0.5 });
    const [path, options] = fetch.mock.calls[0] as [string, RequestInit];
    expect(path).toBe("/v1/query");
    expect(options.headers).toMatchObject({ Authorization: "Bearer secret" });
    expect(JSON.parse(String(options.body))).toEqual({ sql: "select 1", epsilon: 0.5 });
  });
  it("passes on the server's words, hint and position", async () => {
    answerWith(400, { error: { code: "42703", message: "no such column", hint: "use age", position: 8 } });
    const error = await new Client("t").explain({ sql: "" }).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ status: 400, code: "42703", message: "no such column", hint: "use age", position: 8 });
  });
  it("knows an exhausted budget", () => {
    expect(errorFromBody(402, { error: { message: "spent" } }).budgetExhausted).toBe(true);
    expect(errorFromBody(400, null).budgetExhausted).toBe(false);
  });
  it("has a sentence even where the server has none", async () => {
    answerWith(503, "<html>");
    const error = await new Client("t").budget().catch((cause: unknown) => cause);
    expect((error as ApiError).message).toContain("503");
  });
  it("logs out when the token is no longer good, but not on a wrong password", async () => {
    const loggedOut = vi.fn();
    answerWith(401, { error: { message: "no" } });
    await new Client("old", loggedOut).me().catch(() => {});
    expect(loggedOut).toHaveBeenCalledOnce();
    await new Client(null, loggedOut).login("a", "b").catch(() => {});
    expect(loggedOut).toHaveBeenCalledOnce();
  });
  it("says so when the server cannot be reached", async () => {
    vi.stubGlobal("fetch", async () => { throw new TypeError("network"); });
    const error = await new Client("t").me().catch((cause: unknown) => cause);
    expect((error as ApiError).status).toBe(0);
  });
});
