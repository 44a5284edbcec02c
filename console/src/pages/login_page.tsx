// The door: name and password, with the reason when it stays shut.
import { useState } from "preact/hooks";
import { ApiError, Client } from "../api/client";
import mark from "../assets/mark.svg";
import { noiseCurve } from "../logic/noise_shape";
import { asApiError } from "../remote";
import type { Identity } from "../session";
import { Field } from "../ui/field";
import { Note } from "../ui/states";

export function LoginPage({ onEnter, ended }: { onEnter: (identity: Identity) => void; ended: boolean }) {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);

  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const login = await new Client(null).login(name.trim(), password);
      const me = await new Client(login.token).me();
      onEnter({ token: login.token, name: me.name, role: me.role, account: me.account });
    } catch (cause) {
      setError(asApiError(cause));
      setBusy(false);
    }
  };

  return (
    <main class="login">
      <div class="login-form">
        <div class="brand"><img src={mark} alt="" />Discreet</div>
        <div>
          <h1>Log in</h1>
          <p class="quiet">Ask about everyone. Learn about no one.</p>
        </div>
        {ended && !error && <Note live>Your session has ended. Log in again to go on; nothing that was paid for is lost.</Note>}
        {error && (
          <Note tone="danger" live>
            <strong>{error.status === 401 ? "That name and password do not match" : error.status === 429 ? "Too many tries" : "Not logged in"}</strong>
            {error.status !== 401 && <span>{error.message}</span>}
            {error.hint && <span class="quiet">{error.hint}</span>}
          </Note>
        )}
        <form class="stack" onSubmit={submit}>
          <Field label="Name" name="name" autocomplete="username" autofocus required autocapitalize="none" spellcheck={false}
            value={name} onInput={(event) => setName(event.currentTarget.value)} />
          <Field label="Password" name="password" type="password" autocomplete="current-password" required
            value={password} onInput={(event) => setPassword(event.currentTarget.value)} />
          <button class="button button-main" type="submit" disabled={busy || !name || !password}>
            {busy ? <><span class="spinner" aria-hidden="true" /> Logging in</> : "Log in"}
          </button>
        </form>
        <p class="small quiet">Accounts are made by the data owner, here or with <code>discreet user add</code>.</p>
      </div>
      <LoginPicture />
    </main>
  );
}

/** Two worlds, one answer: the curves of a count with and without one person. */
function LoginPicture() {
  const path = (shift: number) =>
    noiseCurve("laplace", 130, 260, 90).map(({ x, y }, i) => `${i ? "L" : "M"}${(x + 280 + shift).toFixed(1)} ${(300 - 230 * y).toFixed(1)}`).join("");
  return (
    <figure class="login-picture" aria-hidden="true">
      <svg viewBox="0 0 560 330">
        <path d={`${path(-16)}L524 300L4 300Z`} class="login-with" />
        <path d={`${path(16)}L556 300L36 300Z`} class="login-without" />
        <path d="M0 300H560" class="login-axis" />
      </svg>
      <figcaption>The same answer, with you in the data or without you. Nobody who reads it can tell which.</figcaption>
    </figure>
  );
}
