// What stands where content will be: loading, failed, nothing there.
import type { ComponentChildren } from "preact";
import type { ApiError } from "../api/client";
import { GoodIcon, InfoIcon, StopIcon, WarnIcon } from "./icons";

type Tone = "plain" | "danger" | "warn" | "good";
const icons = { plain: InfoIcon, danger: StopIcon, warn: WarnIcon, good: GoodIcon };

export function Note({ tone = "plain", children, live }: { tone?: Tone; children: ComponentChildren; live?: boolean }) {
  const Icon = icons[tone];
  return (
    <div class={`note note-${tone}`} {...(live ? { role: tone === "danger" ? "alert" : "status" } : {})}>
      <Icon />
      <div class="note-body">{children}</div>
    </div>
  );
}

/** What the server says beside a price or an answer: one note each, or one list where there are many. */
export function Notices({ notices }: { notices: string[] }) {
  if (notices.length <= 2) return <>{notices.map((notice) => <Note key={notice}>{notice}</Note>)}</>;
  return <Note><ul class="notices">{notices.map((notice) => <li key={notice}>{notice}</li>)}</ul></Note>;
}

export function ErrorNote({ error, retry }: { error: ApiError; retry?: () => void }) {
  return (
    <Note tone="danger" live>
      <strong>{error.budgetExhausted ? "The budget does not reach" : error.status === 0 ? "No connection" : "Refused"}</strong>
      <span>{sentence(error.message)}</span>
      {error.hint && <span class="quiet">{error.hint}</span>}
      {error.code && <span class="small quiet mono">SQLSTATE {error.code}</span>}
      {retry && <div><button type="button" class="button button-small" onClick={retry}>Try again</button></div>}
    </Note>
  );
}

/** The server's words as a sentence: it writes them to follow a program's name and a colon. */
function sentence(text: string): string {
  const whole = text.slice(0, 1).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
}

export function Empty({ icon, title, children }: { icon?: ComponentChildren; title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      {icon}
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

const widths = ["84%", "62%", "73%", "48%", "66%", "55%"];

export function Loading({ lines = 4, label = "Loading" }: { lines?: number; label?: string }) {
  return (
    <div class="stack" role="status" aria-label={label}>
      {Array.from({ length: lines }, (_, i) => (
        <div key={i} class="skeleton skeleton-line" style={{ width: widths[i % widths.length] }} />
      ))}
    </div>
  );
}
