// A form that is sent: busy, done or refused.
import { useState } from "preact/hooks";
import { ApiError } from "../../api/client";
import { asApiError } from "../../remote";

export interface Submit {
  busy: boolean;
  error: ApiError | null;
  done: string | null;
  send: (action: () => Promise<unknown>, message: string) => Promise<boolean>;
}

export function useSubmit(): Submit {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const [done, setDone] = useState<string | null>(null);
  const send = async (action: () => Promise<unknown>, message: string) => {
    setBusy(true);
    setError(null);
    setDone(null);
    try {
      await action();
      setDone(message);
      return true;
    } catch (cause) {
      setError(asApiError(cause));
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { busy, error, done, send };
}
