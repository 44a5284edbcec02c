// The frame around every page: brand, navigation, what is left, who is here.
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import mark from "./assets/mark.svg";
import { formatEpsilon } from "./logic/format";
import { bindingAccount, shareSpent } from "./logic/spending";
import { AskPage } from "./pages/ask/ask_page";
import { BudgetPage } from "./pages/budget/budget_page";
import { CollectPage } from "./pages/collect/collect_page";
import { DataPage } from "./pages/data/data_page";
import { LabPage } from "./pages/lab/lab_page";
import { LearnPage } from "./pages/learn/learn_page";
import { OwnerPage } from "./pages/owner/owner_page";
import { useRemote } from "./remote";
import { pagesFor, useRoute, type PageName } from "./route";
import { useSession } from "./session";
import { applyTheme, isDark, savedTheme, type Theme } from "./theme";
import { AskIcon, BudgetIcon, CollectIcon, DataIcon, HelpIcon, LabIcon, LearnIcon, LeaveIcon, MoonIcon, OwnerIcon, SunIcon } from "./ui/icons";
import { ShortcutHelp, useShortcuts } from "./ui/shortcuts";

const icons: Record<PageName, () => preact.JSX.Element> = {
  ask: AskIcon, budget: BudgetIcon, data: DataIcon, collect: CollectIcon, owner: OwnerIcon, lab: LabIcon, learn: LearnIcon,
};

export function Shell() {
  const { identity, logout } = useSession();
  const route = useRoute();
  const pages = useMemo(() => pagesFor(identity.role), [identity.role]);
  const page = pages.some((candidate) => candidate.name === route.page) ? route.page : "ask";
  const [theme, setTheme] = useState<Theme>(savedTheme);
  const [help, setHelp] = useState(false);
  const main = useRef<HTMLElement>(null);
  const toggleTheme = useCallback(() => {
    const next: Theme = isDark(theme) ? "light" : "dark";
    applyTheme(next);
    setTheme(next);
  }, [theme]);
  const showHelp = useCallback(() => setHelp(true), []);
  useShortcuts({ pages, toggleTheme, help: showHelp });

  const first = useRef(true);
  useEffect(() => {
    document.title = `${pages.find((candidate) => candidate.name === page)?.title ?? "Ask"} · Discreet`;
    if (!first.current) {
      main.current?.focus();
      scrollTo(0, 0);
    }
    first.current = false;
  }, [page]);

  return (
    <>
      <a class="skip-link" href="#main" onClick={(event) => { event.preventDefault(); main.current?.focus(); }}>Skip to the page</a>
      <div class="shell">
        <header class="rail"><div class="rail-inner">
          <a class="brand" href="#/ask"><img src={mark} alt="" />Discreet</a>
          <nav class="nav" aria-label="Pages">
            {pages.map(({ name, title, key }) => {
              const Icon = icons[name];
              return (
                <a key={name} href={`#/${name}`} {...(name === page ? { "aria-current": "page" as const } : {})}>
                  <Icon />{title}<kbd aria-hidden="true">g {key}</kbd>
                </a>
              );
            })}
          </nav>
          <div class="rail-foot">
            <RailBudget />
            <div class="who">
              <span class="avatar" aria-hidden="true">{identity.name.slice(0, 1)}</span>
              <span class="who-name"><strong>{identity.name}</strong><span class="small quiet">{identity.role === "owner" ? "data owner" : "analyst"}</span></span>
            </div>
            <div class="rail-tools">
              <button type="button" class="button button-bare button-icon" aria-label={isDark(theme) ? "Use light colours" : "Use dark colours"} onClick={toggleTheme}>
                {isDark(theme) ? <SunIcon /> : <MoonIcon />}
              </button>
              <button type="button" class="button button-bare button-icon" aria-label="Keyboard shortcuts" onClick={showHelp}><HelpIcon /></button>
              <button type="button" class="button button-bare button-icon" aria-label="Log out" onClick={logout}><LeaveIcon /></button>
            </div>
          </div>
        </div></header>
        <main class="main" id="main" tabIndex={-1} ref={main}>
          {page === "ask" && <AskPage />}
          {page === "budget" && <BudgetPage />}
          {page === "data" && <DataPage table={route.rest} />}
          {page === "collect" && <CollectPage name={route.rest} />}
          {page === "owner" && <OwnerPage />}
          {page === "lab" && <LabPage />}
          {page === "learn" && <LearnPage step={route.rest} />}
        </main>
      </div>
      {help && <ShortcutHelp pages={pages} onClose={() => setHelp(false)} />}
    </>
  );
}

/** What this person can still spend, always in view on wide screens. */
function RailBudget() {
  const { client, identity, budgetVersion } = useSession();
  const accounts = useRemote((signal) => client.budget(signal), [client, budgetVersion]);
  const binding = accounts.value && bindingAccount(accounts.value, identity.account);
  if (!binding) return null;
  const { granted, spent, left } = binding.epsilon;
  return (
    <a class="rail-budget" href="#/budget">
      <span class="spread small"><span class="quiet">Left to spend</span><strong class="number">ε {formatEpsilon(left)}</strong></span>
      <span class="meter" aria-hidden="true"><span class="meter-spent" style={{ width: `${100 * shareSpent(spent, granted)}%` }} /></span>
      <span class="small quiet">of ε {formatEpsilon(granted)} · {binding.name}</span>
    </a>
  );
}
