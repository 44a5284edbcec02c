// Line icons, drawn here; they inherit the colour of the text beside them and are hidden from readers.
import type { ComponentChildren } from "preact";

function Icon({ children }: { children: ComponentChildren }) {
  return (
    <svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">
      {children}
    </svg>
  );
}

export const AskIcon = () => <Icon><path d="M4 6h16M4 11h9M4 16h6" /><path d="m15 14 5 3-5 3z" /></Icon>;
export const BudgetIcon = () => <Icon><path d="M4 17a8 8 0 1 1 16 0" /><path d="m12 17 4-6" /><circle cx="12" cy="17" r="1.3" /></Icon>;
export const DataIcon = () => <Icon><ellipse cx="12" cy="6" rx="7" ry="3" /><path d="M5 6v12c0 1.7 3.1 3 7 3s7-1.3 7-3V6M5 12c0 1.7 3.1 3 7 3s7-1.3 7-3" /></Icon>;
export const CollectIcon = () => <Icon><path d="M12 3v9M8 8l4 4 4-4" /><path d="M4 13h4l2 3h4l2-3h4v6H4z" /></Icon>;
export const OwnerIcon = () => <Icon><circle cx="8" cy="14" r="4" /><path d="m11 11 8-8M16 6l3 3" /></Icon>;
export const LabIcon = () => <Icon><path d="M9 3h6M10 3v6l-5 9a2 2 0 0 0 1.8 3h10.4A2 2 0 0 0 19 18l-5-9V3M7.5 15h9" /></Icon>;
export const LearnIcon = () => <Icon><path d="m3 9 9-4 9 4-9 4z" /><path d="M7 11v5c1.5 1.3 3.2 2 5 2s3.5-.7 5-2v-5M21 9v6" /></Icon>;
export const SunIcon = () => <Icon><circle cx="12" cy="12" r="4" /><path d="M12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6 7 7M17 17l1.4 1.4M5.6 18.4 7 17M17 7l1.4-1.4" /></Icon>;
export const MoonIcon = () => <Icon><path d="M20 14.5A8 8 0 1 1 9.5 4a6.5 6.5 0 0 0 10.5 10.5z" /></Icon>;
export const LeaveIcon = () => <Icon><path d="M14 4H6v16h8M10 12h10M17 9l3 3-3 3" /></Icon>;
export const HelpIcon = () => <Icon><circle cx="12" cy="12" r="9" /><path d="M9.5 9.5a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1.9-1.1 1.8M12 17h.01" /></Icon>;
export const WarnIcon = () => <Icon><path d="M12 4 2.8 19.5h18.4zM12 10v4M12 17h.01" /></Icon>;
export const StopIcon = () => <Icon><circle cx="12" cy="12" r="9" /><path d="M12 7.5v5M12 16h.01" /></Icon>;
export const GoodIcon = () => <Icon><circle cx="12" cy="12" r="9" /><path d="m8 12 3 3 5-6" /></Icon>;
export const InfoIcon = () => <Icon><circle cx="12" cy="12" r="9" /><path d="M12 11v5M12 8h.01" /></Icon>;
export const ShieldIcon = () => <Icon><path d="M12 3 5 6v5c0 4.6 2.9 8.2 7 10 4.1-1.8 7-5.4 7-10V6z" /></Icon>;
export const OpenIcon = () => <Icon><path d="M3 12h18M12 3c2.5 2.6 3.8 5.6 3.8 9S14.5 18.4 12 21c-2.5-2.6-3.8-5.6-3.8-9S9.5 5.6 12 3z" /><circle cx="12" cy="12" r="9" /></Icon>;
export const DownIcon = () => <Icon><path d="M12 4v11M7.5 11l4.5 4.5L16.5 11M5 20h14" /></Icon>;
export const DiceIcon = () => <Icon><rect x="4" y="4" width="16" height="16" rx="3" /><g fill="currentColor" stroke="none"><circle cx="8.7" cy="8.7" r="1.7" /><circle cx="15.3" cy="8.7" r="1.7" /><circle cx="12" cy="12" r="1.7" /><circle cx="8.7" cy="15.3" r="1.7" /><circle cx="15.3" cy="15.3" r="1.7" /></g></Icon>;
