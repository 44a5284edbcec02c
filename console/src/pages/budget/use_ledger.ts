// The ledger a page at a time, newest first.
import { useCallback, useEffect, useState } from "preact/hooks";
import { ApiError } from "../../api/client";
import type { LedgerEvent } from "../../api/types";
import { asApiError } from "../../remote";
import { useSession } from "../../session";

const pageSize = 200;

export interface Ledger {
  events: LedgerEvent[];
  error: ApiError | null;
  loading: boolean;
  more: (() => void) | null;
  reload: () => void;
}

export function useLedger(): Ledger {
  const { client, budgetVersion } = useSession();
  const [events, setEvents] = useState<LedgerEvent[]>([]);
  const [next, setNext] = useState<number | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [loading, setLoading] = useState(true);

  const fetchPage = useCallback(async (before: number | null) => {
    setLoading(true);
    try {
      const page = await client.ledger(pageSize, before);
      setEvents((old) => (before === null ? page.events : [...old, ...page.events]));
      setNext(page.next);
      setError(null);
    } catch (cause) {
      setError(asApiError(cause));
    }
    setLoading(false);
  }, [client]);

  useEffect(() => void fetchPage(null), [fetchPage, budgetVersion]);
  return { events, error, loading, more: next === null ? null : () => void fetchPage(next), reload: () => void fetchPage(null) };
}
