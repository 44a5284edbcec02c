// Something fetched: loading, ready or failed, with a way to ask again.
import { useCallback, useEffect, useState } from "preact/hooks";
import { ApiError } from "./api/client";

export interface Remote<T> {
  value: T | null;
  error: ApiError | null;
  loading: boolean;
  reload: () => void;
}

export function useRemote<T>(fetch: (signal: AbortSignal) => Promise<T>, dependencies: unknown[]): Remote<T> {
  const [state, setState] = useState<{ value: T | null; error: ApiError | null; loading: boolean }>({
    value: null, error: null, loading: true,
  });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    setState((old) => ({ ...old, loading: true }));
    fetch(abort.signal).then(
      (value) => !abort.signal.aborted && setState({ value, error: null, loading: false }),
      (cause: unknown) => {
        if (abort.signal.aborted) return;
        setState((old) => ({ value: old.value, error: asApiError(cause), loading: false }));
      },
    );
    return () => abort.abort();
  }, [...dependencies, round]);
  const reload = useCallback(() => setRound((n) => n + 1), []);
  return { ...state, reload };
}

export function asApiError(cause: unknown): ApiError {
  if (cause instanceof ApiError) return cause;
  return new ApiError(0, "", cause instanceof Error ? cause.message : "Something went wrong in the console.");
}
