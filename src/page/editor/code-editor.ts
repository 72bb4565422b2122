import { acceptCompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language';
import { lintGutter, lintKeymap, type Diagnostic as Mark, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, openSearchPanel, search, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, type Extension, type Text } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { Signal } from '@preact/signals';
import type { Diagnostic } from '#run-view/api/types.ts';
import { advice } from '../api/client.ts';
import styles from '../styles/code-editor.css?inline';
import type { Comparison } from './comparison.ts';

/** A text editor for workflow files. */
export class CodeEditor {
  readonly #view: EditorView;
  readonly #comparison = new Compartment();

  /**
   * Creates the editor in a shadow root of the host: its style sheets are then constructed ones, which the
   * Content-Security-Policy of the page allows. `help` is loaded a little later.
   */
  constructor(host: HTMLElement, label: string, text: Signal<string>, help: Promise<Extension>) {
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(styles);
    root.adoptedStyleSheets = [sheet];
    const loaded = new Compartment();
    const listener = EditorView.updateListener.of(({ docChanged, state }) => {
      if (docChanged) text.value = state.doc.toString();
    });
    const extensions = [basics(label), loaded.of([]), this.#comparison.of([]), listener];
    this.#view = new EditorView({ root, parent: root, doc: text.peek(), extensions });
    // Allows scrolling a long text by keyboard without changing the selection.
    this.#view.scrollDOM.tabIndex = 0;
    void help.then((extension) => this.#view.dispatch({ effects: loaded.reconfigure(extension) }));
  }

  focus(): void {
    this.#view.focus();
  }

  /** Replaces the whole text if it differs; the change can be undone. */
  setText(text: string): void {
    const { doc } = this.#view.state;
    if (text !== doc.toString()) this.#view.dispatch({ changes: { from: 0, to: doc.length, insert: text } });
  }

  setProblems(problems: readonly Diagnostic[]): void {
    const { state } = this.#view;
    this.#view.dispatch(
      setDiagnostics(
        state,
        problems.flatMap((problem) => marksOf(problem, state.doc)),
      ),
    );
  }

  /** Moves the cursor to a line and a column, both from 1, and scrolls to it. */
  goTo(line: number, column: number): void {
    const at = positionIn(this.#view.state.doc, line, column);
    this.#view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: 'center' }) });
    this.#view.focus();
  }

  find(): void {
    openSearchPanel(this.#view);
  }

  /** Shows the differences from another text; null: hides them. */
  async compare(other: Comparison | null): Promise<void> {
    const shown = other === null ? [] : (await import('./comparison.ts')).differences(other);
    this.#view.dispatch({ effects: this.#comparison.reconfigure(shown) });
  }

  destroy(): void {
    this.#view.destroy();
  }
}

function basics(label: string): Extension {
  return [
    lineNumbers(),
    foldGutter(),
    lintGutter(),
    history(),
    drawSelection(),
    EditorState.allowMultipleSelections.of(true),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    highlightSelectionMatches(),
    search({ top: true }),
    yaml(),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false', autocapitalize: 'off' }),
    keymap.of([
      { key: 'Tab', run: acceptCompletion },
      // After Escape, CodeMirror lets Tab move the focus instead.
      { key: 'Tab', run: indentMore, shift: indentLess },
      ...closeBracketsKeymap,
      ...defaultKeymap,
      ...searchKeymap,
      ...historyKeymap,
      ...foldKeymap,
      ...completionKeymap,
      ...lintKeymap,
    ]),
    syntaxHighlighting(highlighting),
  ];
}

/** A problem as a mark in the text; none if it has no position or belongs to an imported file. */
function marksOf(problem: Diagnostic, text: Text): readonly Mark[] {
  const { file, line, column, endLine, endColumn, severity } = problem;
  if (line === null || file !== '-') return [];
  const from = positionIn(text, line, column ?? 1);
  const to = endLine === null ? text.lineAt(from).to : positionIn(text, endLine, endColumn ?? 1);
  const message = [problem.message, advice(problem)].join('\n').trimEnd();
  return [{ from, to: Math.max(from, to), severity, message }];
}

function positionIn(text: Text, line: number, column: number): number {
  const { from, to } = text.line(Math.min(Math.max(line, 1), text.lines));
  return Math.min(from + column - 1, to);
}

const highlighting = HighlightStyle.define([
  { tag: [tags.definition(tags.propertyName), tags.propertyName], color: 'var(--link)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--quiet)', fontStyle: 'italic' },
  { tag: tags.string, color: 'var(--green)' },
  { tag: [tags.special(tags.string), tags.labelName, tags.typeName, tags.meta], color: 'var(--amber)' },
]);
