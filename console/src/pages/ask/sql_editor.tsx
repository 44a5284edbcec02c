// CodeMirror for SQL. It lives in a shadow root: there its styles are constructed sheets, which a strict
// Content-Security-Policy allows, where a <style> element in the page would be refused.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, type CompletionContext } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { PostgreSQL } from "@codemirror/lang-sql";
import { HighlightStyle, bracketMatching, syntaxHighlighting } from "@codemirror/language";
import { EditorState, Prec, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, drawSelection, highlightSpecialChars, keymap, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "preact/hooks";
import type { Table } from "../../api/types";
import { offersAt } from "../../logic/completion";

interface SqlEditorProps {
  /** What stands in the editor at first, and again whenever it is another object. In between the editor is the
      only one who writes: a text that came back a keystroke late would undo what was typed since. */
  loaded: { sql: string };
  tables: Table[];
  /** Where the server says that something is wrong: a character counted from 1. */
  errorAt: number | null;
  onValue: (value: string) => void;
  onRun: () => void;
}

const look = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "transparent", fontSize: "14.5px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6", minHeight: "148px", maxHeight: "46vh" },
  ".cm-content": { padding: "16px 6px", caretColor: "var(--ink)", fontVariantLigatures: "none" },
  ".cm-line": { padding: "0 18px" },
  ".cm-cursor": { borderLeftColor: "var(--price)", borderLeftWidth: "2px" },
  ".cm-placeholder": { color: "var(--ink-3)" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": { backgroundColor: "var(--price-soft)" },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "var(--price-soft)", outline: "none" },
  ".cm-tooltip": { backgroundColor: "var(--surface)", border: "1px solid var(--line-strong)", borderRadius: "8px", boxShadow: "var(--shadow-high)", overflow: "hidden" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", fontSize: "13px", maxHeight: "14em" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "4px 10px", color: "var(--ink)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--price-soft)", color: "var(--price)" },
  ".cm-completionDetail": { color: "var(--ink-3)", fontStyle: "normal", marginLeft: "1.2em" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700" },
  ".wrong": { textDecoration: "underline wavy var(--danger)", textDecorationSkipInk: "none", textUnderlineOffset: "4px" },
});

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "var(--price)", fontWeight: "600" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--value)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--error)" },
  { tag: [tags.lineComment, tags.blockComment], color: "var(--ink-3)", fontStyle: "italic" },
  { tag: [tags.standard(tags.name), tags.typeName], color: "var(--ink)", fontWeight: "600" },
]);

const setWrong = StateEffect.define<number | null>();
const wrongPlace = StateField.define({
  create: () => Decoration.none,
  update(marks, transaction) {
    if (transaction.docChanged) return Decoration.none;
    for (const effect of transaction.effects)
      if (effect.is(setWrong)) return markAt(transaction.state, effect.value);
    return marks;
  },
  provide: (field) => EditorView.decorations.from(field),
});

function markAt(state: EditorState, position: number | null) {
  const from = position === null ? -1 : position - 1;
  if (from < 0 || from >= state.doc.length) return Decoration.none;
  const word = state.wordAt(from);
  const to = word && word.to > from ? word.to : Math.min(from + 1, state.doc.length);
  return Decoration.set([Decoration.mark({ class: "wrong" }).range(from, to)]);
}

export function SqlEditor({ loaded, tables, errorAt, onValue, onRun }: SqlEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const callbacks = useRef({ onValue, onRun, tables });
  callbacks.current = { onValue, onRun, tables };

  useEffect(() => {
    const root = host.current!.shadowRoot ?? host.current!.attachShadow({ mode: "open", delegatesFocus: true });
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: loaded.sql,
        extensions: [
          Prec.highest(keymap.of([
            { key: "Mod-Enter", run: () => (callbacks.current.onRun(), true) },
          ])),
          keymap.of([
            ...closeBracketsKeymap, ...completionKeymap, ...historyKeymap,
            { key: "Escape", run: (editing) => (editing.contentDOM.blur(), true) },
            ...defaultKeymap,
          ]),
          PostgreSQL.language,
          history(), drawSelection(), highlightSpecialChars(), bracketMatching(), closeBrackets(),
          autocompletion({ icons: false, override: [(context) => complete(context, callbacks.current.tables)] }),
          syntaxHighlighting(colours), look, wrongPlace,
          EditorView.lineWrapping,
          placeholder("select …"),
          EditorView.contentAttributes.of({ "aria-label": "SQL question", autocapitalize: "none", spellcheck: "false" }),
          EditorView.updateListener.of((update) => update.docChanged && callbacks.current.onValue(update.state.doc.toString())),
        ],
      }),
    });
    view.current = editor;
    const edit = () => editor.focus();
    document.addEventListener("discreet:edit", edit);
    return () => {
      document.removeEventListener("discreet:edit", edit);
      editor.destroy();
    };
  }, []);

  useEffect(() => {
    const editor = view.current;
    if (editor && editor.state.doc.toString() !== loaded.sql)
      editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: loaded.sql } });
  }, [loaded]);
  useEffect(() => view.current?.dispatch({ effects: setWrong.of(errorAt) }), [errorAt]);

  return <div class="sql-editor" ref={host} />;
}

function complete(context: CompletionContext, tables: Table[]) {
  const { from, offers } = offersAt(context.state.doc.toString(), context.pos, tables);
  const dotted = context.state.sliceDoc(from - 1, from) === ".";
  if (from === context.pos && !dotted && !context.explicit) return null;
  return { from, options: offers, validFor: /^\w*$/ };
}
