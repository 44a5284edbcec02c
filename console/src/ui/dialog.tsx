// A modal box on the browser's own dialog element, which keeps focus inside and closes on Escape.
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ComponentChildren }) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = ref.current;
    if (!dialog) return;
    dialog.showModal();
    return () => dialog.close();
  }, []);
  return (
    <dialog ref={ref} aria-labelledby={id} onClose={onClose} onClick={(event) => event.target === ref.current && onClose()}>
      <div class="panel-head">
        <h2 id={id}>{title}</h2>
        <button type="button" class="button button-small button-bare" onClick={onClose}>Close</button>
      </div>
      <div class="panel-body">{children}</div>
    </dialog>
  );
}
