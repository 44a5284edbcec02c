// Keys that work anywhere outside a text field: g then a page's letter, / for the editor, t for the theme, ? for help.
import { useEffect } from "preact/hooks";
import type { PageInfo } from "../route";
import { Dialog } from "./dialog";

interface Actions {
  pages: PageInfo[];
  toggleTheme: () => void;
  help: () => void;
}

export function useShortcuts({ pages, toggleTheme, help }: Actions): void {
  useEffect(() => {
    let going = 0;
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      if (Date.now() - going < 1500) {
        going = 0;
        const page = pages.find((candidate) => candidate.key === event.key);
        if (page) {
          event.preventDefault();
          location.hash = `#/${page.name}`;
        }
      } else if (event.key === "g") going = Date.now();
      else if (event.key === "t") toggleTheme();
      else if (event.key === "?") help();
      else if (event.key === "/") {
        event.preventDefault();
        location.hash = "#/ask";
        setTimeout(() => document.dispatchEvent(new CustomEvent("discreet:edit")), 60);
      }
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [pages, toggleTheme, help]);
}

function isTyping(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["TEXTAREA", "SELECT"].includes(target.tagName) ||
    (target instanceof HTMLInputElement && target.type !== "range");
}

export function ShortcutHelp({ pages, onClose }: { pages: PageInfo[]; onClose: () => void }) {
  const keys: [string, string][] = [
    ["Ctrl Enter", "run the question"],
    ["Esc", "leave the editor, so that Tab moves on"],
    ["/", "go to the editor"],
    ...pages.map((page): [string, string] => [`g ${page.key}`, page.title]),
    ["t", "light or dark"],
    ["?", "this list"],
  ];
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl class="facts">
        {keys.map(([key, meaning]) => [<dt key={key}>{key.split(" ").map((part) => <kbd key={part}>{part}</kbd>)}</dt>, <dd key={`${key}:`}>{meaning}</dd>])}
      </dl>
    </Dialog>
  );
}
