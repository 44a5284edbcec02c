// Calls the server and turns its refusals into ApiError. One method per line of the contract.
import type {
  Account, Analyst, Answer, Collection, Estimates, Explanation, Grant, LedgerPage, Login, Me, NewAnalyst, Question, Table,
} from "./types";

/** A refusal in the server's words. `status` 0 means that it could not be reached at all. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string | null = null,
    readonly position: number | null = null,
  ) {
    super(message);
  }
  get budgetExhausted(): boolean {
    return this.status === 402;
  }
}

interface ErrorBody {
  error?: { code?: string; message?: string; hint?: string | null; position?: number | null };
}

export function errorFromBody(status: number, body: unknown): ApiError {
  const error = (body as ErrorBody | null)?.error;
  const message = error?.message ?? `The server answered with status ${status} and no reason.`;
  return new ApiError(status, error?.code ?? "", message, error?.hint || null, error?.position ?? null);
}

export class Client {
  constructor(
    private readonly token: string | null,
    private readonly onLoggedOut: () => void = () => {},
  ) {}

  login(name: string, password: string): Promise<Login> {
    return this.call("POST", "/v1/login", { name, password });
  }
  logout(): Promise<unknown> {
    return this.call("POST", "/v1/logout", {});
  }
  me(signal?: AbortSignal): Promise<Me> {
    return this.call("GET", "/v1/me", undefined, signal);
  }
  async tables(signal?: AbortSignal): Promise<Table[]> {
    return (await this.call<{ tables: Table[] }>("GET", "/v1/tables", undefined, signal)).tables;
  }
  explain(question: Question, signal?: AbortSignal): Promise<Explanation> {
    return this.call("POST", "/v1/explain", question, signal);
  }
  query(question: Question): Promise<Answer> {
    return this.call("POST", "/v1/query", question);
  }
  async budget(signal?: AbortSignal): Promise<Account[]> {
    return (await this.call<{ accounts: Account[] }>("GET", "/v1/budget", undefined, signal)).accounts;
  }
  ledger(limit: number, before: number | null = null, signal?: AbortSignal): Promise<LedgerPage> {
    const page = before === null ? "" : `&before=${before}`;
    return this.call("GET", `/v1/ledger?limit=${limit}${page}`, undefined, signal);
  }
  collections(signal?: AbortSignal): Promise<Collection[]> {
    return this.call("GET", "/v1/collections", undefined, signal);
  }
  estimates(collection: string, top: number, signal?: AbortSignal): Promise<Estimates> {
    return this.call("GET", `/v1/collections/${encodeURIComponent(collection)}/estimates?top=${top}`, undefined, signal);
  }
  async analysts(signal?: AbortSignal): Promise<Analyst[]> {
    return (await this.call<{ analysts: Analyst[] }>("GET", "/v1/owner/analysts", undefined, signal)).analysts;
  }
  addAnalyst(analyst: NewAnalyst): Promise<unknown> {
    return this.call("POST", "/v1/owner/analysts", analyst);
  }
  grant(grant: Grant): Promise<unknown> {
    return this.call("POST", "/v1/owner/grants", grant);
  }

  private async call<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
    const headers: Record<string, string> = { Accept: "application/json" };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (this.token) headers["Authorization"] = `Bearer ${this.token}`;
    let response: Response;
    try {
      response = await fetch(path, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(signal ? { signal } : {}),
        cache: "no-store",
      });
    } catch (cause) {
      if (signal?.aborted) throw cause;
      throw new ApiError(0, "", "The server cannot be reached.", "Check that discreet serve is running, then try again.");
    }
    const text = await response.text();
    const parsed = parseJson(text);
    if (response.ok) return parsed as T;
    if (response.status === 401 && this.token) this.onLoggedOut();
    throw errorFromBody(response.status, parsed);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
