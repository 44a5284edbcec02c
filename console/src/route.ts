// Pages live behind the hash, because the server hands out one document.
import { useEffect, useState } from "preact/hooks";
import type { Role } from "./api/types";

export type PageName = "ask" | "budget" | "data" | "collect" | "owner" | "lab" | "learn";

export interface PageInfo {
  name: PageName;
  title: string;
  key: string;
  ownerOnly?: boolean;
}

export const pages: readonly PageInfo[] = [
  { name: "ask", title: "Ask", key: "a" },
  { name: "budget", title: "Budget", key: "b" },
  { name: "data", title: "Data", key: "d" },
  { name: "collect", title: "Collect", key: "c" },
  { name: "owner", title: "Owner", key: "o", ownerOnly: true },
  { name: "lab", title: "Lab", key: "l" },
  { name: "learn", title: "Learn", key: "e" },
];

export function pagesFor(role: Role): PageInfo[] {
  return pages.filter((page) => !page.ownerOnly || role === "owner");
}

/** `#/data/visits` is the page "data" with the rest "visits"; anything unknown is the first page. */
export function parseRoute(hash: string): { page: PageName; rest: string } {
  const [name, ...rest] = hash.replace(/^#\/?/, "").split("/");
  const page = pages.find((candidate) => candidate.name === name);
  return page ? { page: page.name, rest: decode(rest.join("/")) } : { page: "ask", rest: "" };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

export function useRoute(): { page: PageName; rest: string } {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const read = () => setRoute(parseRoute(location.hash));
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, []);
  return route;
}
