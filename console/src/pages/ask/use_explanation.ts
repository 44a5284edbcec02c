// The price of what stands in the editor, asked for a moment after the last keystroke. It costs nothing.
import { useEffect, useState } from "preact/hooks";
import { ApiError } from "../../api/client";
import type { Explanation } from "../../api/types";
import { epsilonLadder } from "../../logic/noise_shape";
import { asApiError } from "../../remote";
import { useSession } from "../../session";

export interface Pricing {
  explanation: Explanation | null;
  error: ApiError | null;
  pending: boolean;
}

const pause = 350;

export function useExplanation(sql: string, epsilon: number): Pricing {
  const { client, budgetVersion } = useSession();
  const [state, setState] = useState<Pricing>({ explanation: null, error: null, pending: false });
  useEffect(() => {
    if (sql.trim() === "") {
      setState({ explanation: null, error: null, pending: false });
      return;
    }
    const abort = new AbortController();
    setState((old) => ({ ...old, pending: true }));
    const timer = setTimeout(async () => {
      try {
        const explanation = await client.explain({ sql, epsilon }, abort.signal);
        if (!abort.signal.aborted) setState({ explanation, error: null, pending: false });
      } catch (cause) {
        if (!abort.signal.aborted) setState({ explanation: null, error: asApiError(cause), pending: false });
      }
    }, pause);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [sql, epsilon, client, budgetVersion]);
  return state;
}

export interface Rung {
  epsilon: number;
  explanation: Explanation;
}

/** The same question at several epsilons, asked one after the other once typing has stopped for longer. */
export function useLadder(sql: string, epsilon: number, wanted: boolean): Rung[] {
  const { client } = useSession();
  const [rungs, setRungs] = useState<Rung[]>([]);
  useEffect(() => {
    if (!wanted || sql.trim() === "") {
      setRungs([]);
      return;
    }
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      const found: Rung[] = [];
      for (const step of epsilonLadder(epsilon)) {
        try {
          found.push({ epsilon: step, explanation: await client.explain({ sql, epsilon: step }, abort.signal) });
        } catch {
          if (abort.signal.aborted) return;  // a rung that is refused is left out
        }
      }
      if (!abort.signal.aborted) setRungs(found);
    }, 2 * pause);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [sql, epsilon, wanted, client]);
  return rungs;
}
