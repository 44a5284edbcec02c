// A titled box, and the head of a page.
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface PanelProps {
  title?: string;
  aside?: ComponentChildren;
  children: ComponentChildren;
  flush?: boolean;
  class?: string;
}

export function Panel({ title, aside, children, flush, class: extra }: PanelProps) {
  const id = useId();
  return (
    <section class={`panel ${extra ?? ""}`} {...(title ? { "aria-labelledby": id } : {})}>
      {title && (
        <div class="panel-head">
          <h2 id={id}>{title}</h2>
          {aside}
        </div>
      )}
      {flush ? children : <div class="panel-body">{children}</div>}
    </section>
  );
}

export function PageHead({ title, children, aside }: { title: string; children?: ComponentChildren; aside?: ComponentChildren }) {
  return (
    <header class="page-head">
      <div>
        <h1>{title}</h1>
        {children && <p>{children}</p>}
      </div>
      {aside}
    </header>
  );
}
