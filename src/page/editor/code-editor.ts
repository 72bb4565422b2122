import { acceptCompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, foldGutter, foldKeymap, indentOnInput } from '@codemirror/language';
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
import type { Diagnostic } from '#run-view/api/types.ts';
import { advice } from '../api/problem.ts';
import type { Comparison } from './comparison.ts';
import { editorTheme } from './editor-theme.ts';

/** A text editor for workflow files. */
export type CodeEditor = {
  readonly focus: () => void;
  /** Replaces the whole text if it differs; the change can be undone. */
  readonly setText: (text: string) => void;
  readonly setProblems: (problems: readonly Diagnostic[]) => void;
  /** Moves the cursor to a line and a column, both from 1, and scrolls to it. */
  readonly goTo: (line: number, column: number) => void;
  readonly find: () => void;
  /** Shows the differences from another text; null: hides them. */
  readonly compare: (other: Comparison | null) => Promise<void>;
  readonly destroy: () => void;
};

type EditorOptions = {
  readonly text: string;
  readonly label: string;
  /** Completion and documentation, which are loaded a little later. */
  readonly help: Promise<Extension>;
  readonly onText: (text: string) => void;
};

/**
 * Creates the editor in a shadow root of the host: its style sheets are then constructed ones, which the
 * Content-Security-Policy of the page allows.
 */
export function createCodeEditor(
  host: HTMLElement,
  { text, label, help: loadedHelp, onText }: EditorOptions,
): CodeEditor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const comparison = new Compartment();
  const help = new Compartment();
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        basics(label),
        help.of([]),
        comparison.of([]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onText(update.state.doc.toString());
        }),
      ],
    }),
  });
  // Allows scrolling a long text by keyboard without changing the selection.
  view.scrollDOM.tabIndex = 0;
  void loadedHelp.then((extension) => view.dispatch({ effects: help.reconfigure(extension) }));
  return {
    focus: () => view.focus(),
    setText: (other) => {
      if (other === view.state.doc.toString()) return;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: other } });
    },
    setProblems: (problems) => view.dispatch(setDiagnostics(view.state, problems.flatMap(marksIn(view.state.doc)))),
    goTo: (line, column) => {
      const at = positionIn(view.state.doc, line, column);
      view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: 'center' }) });
      view.focus();
    },
    find: () => openSearchPanel(view),
    compare: async (other) => {
      const shown = other === null ? [] : (await import('./comparison.ts')).differences(other);
      view.dispatch({ effects: comparison.reconfigure(shown) });
    },
    destroy: () => view.destroy(),
  };
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
    editorTheme,
  ];
}

/** A problem as a mark in the text; null if it has no position or belongs to an imported file. */
function marksIn(text: Text): (problem: Diagnostic) => readonly Mark[] {
  return (problem) => {
    const { file, line, column, endLine, endColumn, severity } = problem;
    if (line === null || file !== '-') return [];
    const from = positionIn(text, line, column ?? 1);
    const to = endLine === null ? text.lineAt(from).to : positionIn(text, endLine, endColumn ?? 1);
    return [
      { from, to: Math.max(from, to), severity, message: [problem.message, advice(problem)].join('\n').trimEnd() },
    ];
  };
}

function positionIn(text: Text, line: number, column: number): number {
  const { from, to } = text.line(Math.min(Math.max(line, 1), text.lines));
  return Math.min(from + column - 1, to);
}
