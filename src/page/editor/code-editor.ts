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
import type { Diagnostic } from '#run-view/api/types.ts';
import { advice } from '../api/client.ts';
import type { Comparison } from './comparison.ts';

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

/** The style of the editor. It uses the colours of the page, which change with the theme. */
const look = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--card)', fontSize: '12.5px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': {
    fontFamily: 'var(--mono)',
    lineHeight: '18px',
    minHeight: 'max(320px, calc(100vh - 400px))',
    maxHeight: 'max(320px, calc(100vh - 320px))',
  },
  '.cm-content': { padding: '8px 0', caretColor: 'var(--text)' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--text)' },
  '.cm-line': { padding: '0 12px 0 8px' },
  '.cm-gutters': { backgroundColor: 'var(--card)', color: 'var(--quiet)', border: 'none' },
  '.cm-lineNumbers .cm-gutterElement': { minWidth: '4ch' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'color-mix(in srgb, var(--fill) 6%, transparent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'color-mix(in srgb, var(--fill) 26%, var(--card))',
  },
  '.cm-selectionMatch': { backgroundColor: 'color-mix(in srgb, var(--fill) 16%, transparent)' },
  '.cm-searchMatch': { backgroundColor: 'color-mix(in srgb, var(--amber) 26%, transparent)' },
  '.cm-searchMatch, .cm-searchMatch *, .cm-selectionMatch *': { color: 'var(--text)' },
  '.cm-searchMatch-selected': { outline: '2px solid var(--amber)' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'color-mix(in srgb, var(--fill) 22%, transparent)' },
  '.cm-foldPlaceholder': {
    backgroundColor: 'var(--grid)',
    borderColor: 'var(--line)',
    color: 'var(--quiet)',
    padding: '0 4px',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--card)',
    color: 'var(--text)',
    border: '1px solid var(--edge)',
    borderRadius: '7px',
    boxShadow: '0 4px 16px rgb(0 0 0 / 0.18)',
    overflow: 'hidden',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '16em', minWidth: '220px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '3px 8px', lineHeight: '18px', display: 'flex' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--fill)', color: 'var(--on-fill)' },
  '.cm-completionDetail': {
    fontStyle: 'normal',
    opacity: '1',
    color: 'var(--quiet)',
    marginLeft: 'auto',
    paddingLeft: '16px',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected] .cm-completionDetail': { color: 'var(--on-fill)' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700' },
  '.cm-tooltip.cm-completionInfo': { padding: '0', maxWidth: '360px' },
  '.wf-doc': {
    padding: '8px 12px',
    maxWidth: '420px',
    font: '13px/1.45 system-ui, sans-serif',
    overflowWrap: 'anywhere',
  },
  '.wf-doc p': { margin: '0' },
  '.wf-doc p + p': { marginTop: '4px' },
  '.wf-doc-key': { color: 'var(--quiet)' },
  '.wf-doc-key strong': { color: 'var(--text)', fontFamily: 'var(--mono)' },
  '.wf-doc code': {
    font: '12px/16px var(--mono)',
    backgroundColor: 'var(--grid)',
    borderRadius: '3px',
    padding: '0 3px',
  },
  '.cm-diagnostic': {
    padding: '6px 12px',
    font: '13px/1.45 system-ui, sans-serif',
    marginLeft: '0',
    whiteSpace: 'pre-wrap',
  },
  '.cm-diagnostic-error': { borderLeft: '4px solid var(--red)' },
  '.cm-diagnostic-warning': { borderLeft: '4px solid var(--amber)' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--red)',
    textUnderlineOffset: '4px',
  },
  '.cm-lintRange-warning': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--amber)',
    textUnderlineOffset: '4px',
  },
  '.cm-lintRange-active': { backgroundColor: 'color-mix(in srgb, var(--amber) 18%, transparent)' },
  '.cm-gutter-lint': { width: '16px' },
  '.cm-gutter-lint .cm-gutterElement': { padding: '2px 0 0 4px' },
  '.cm-lint-marker': { width: '12px', height: '12px', borderRadius: '6px', forcedColorAdjust: 'none' },
  '.cm-lint-marker-error': { content: 'none', backgroundColor: 'var(--red)' },
  '.cm-lint-marker-warning': { content: 'none', backgroundColor: 'var(--amber)', borderRadius: '2px' },
  '.cm-panels': { backgroundColor: 'var(--page)', color: 'var(--text)', fontFamily: 'system-ui, sans-serif' },
  '.cm-panels-top': { borderBottom: '1px solid var(--line)' },
  '.cm-panel.cm-search': {
    padding: '8px 36px 8px 12px',
    display: 'flex',
    flexWrap: 'wrap',
    gap: '4px 8px',
    alignItems: 'center',
  },
  '.cm-panel.cm-search br': { display: 'none' },
  '.cm-panel.cm-search label': {
    fontSize: '13px',
    display: 'inline-flex',
    alignItems: 'center',
    gap: '4px',
    minHeight: '24px',
  },
  '.cm-panel.cm-search [name=close]': {
    width: '28px',
    height: '28px',
    top: '8px',
    right: '4px',
    color: 'var(--quiet)',
    fontSize: '18px',
  },
  '.cm-textfield': {
    backgroundColor: 'var(--card)',
    color: 'var(--text)',
    border: '1px solid var(--edge)',
    borderRadius: '7px',
    fontSize: '13px',
    padding: '4px 8px',
  },
  '.cm-button': {
    backgroundImage: 'none',
    backgroundColor: 'var(--card)',
    color: 'var(--text)',
    border: '1px solid var(--edge)',
    borderRadius: '7px',
    fontSize: '13px',
    padding: '4px 10px',
    cursor: 'pointer',
  },
  '.cm-button:active': { backgroundImage: 'none', backgroundColor: 'var(--grid)' },
  ':is(button, input):focus-visible': { outline: '2px solid var(--link)', outlineOffset: '1px' },
  // The style of a comparison with another text.
  '.cm-changedLine': { backgroundColor: 'color-mix(in srgb, var(--green) 8%, transparent) !important' },
  '.cm-changedText': { background: 'color-mix(in srgb, var(--green) 14%, transparent) !important' },
  '.cm-deletedChunk': {
    backgroundColor: 'color-mix(in srgb, var(--red) 7%, transparent)',
    padding: '0 12px 0 8px',
    display: 'flow-root',
  },
  '.cm-deletedChunk .cm-deletedText, .cm-deletedText': {
    background: 'color-mix(in srgb, var(--red) 12%, transparent) !important',
  },
  '.cm-deletedLine, .cm-deletedLine del': { textDecoration: 'none' },
  '.cm-changeGutter': { width: '3px', paddingLeft: '0', forcedColorAdjust: 'none' },
  '.cm-changedLineGutter': { backgroundColor: 'var(--green)' },
  '.cm-deletedLineGutter': { backgroundColor: 'var(--red)' },
  '.cm-deletedChunk .cm-chunkButtons': { position: 'static', float: 'right', display: 'flex', gap: '4px' },
  '.cm-deletedChunk .cm-chunkButtons .cm-button': {
    margin: '0',
    padding: '1px 8px',
    border: '1px solid var(--edge)',
    borderRadius: '7px',
    color: 'var(--text)',
    font: '13px/20px system-ui, sans-serif',
  },
  '.cm-collapsedLines': { background: 'var(--grid)', color: 'var(--quiet)', padding: '2px 12px' },
  // Forced colours remove the shades that show a selection and a change.
  '@media (forced-colors: active)': {
    '.cm-tooltip-autocomplete ul li[aria-selected]': {
      forcedColorAdjust: 'none',
      backgroundColor: 'Highlight',
      color: 'HighlightText',
    },
    '.cm-tooltip-autocomplete ul li[aria-selected] .cm-completionDetail': { color: 'inherit' },
    '.cm-selectionBackground, .cm-searchMatch': { outline: '1px solid Highlight' },
    '.cm-searchMatch-selected': { outline: '3px solid Highlight' },
    '.cm-changedText': { textDecoration: 'underline' },
    '.cm-deletedText, .cm-deletedLine, .cm-deletedLine del': { textDecoration: 'line-through' },
  },
});

const highlighting = HighlightStyle.define([
  { tag: [tags.definition(tags.propertyName), tags.propertyName], color: 'var(--link)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--quiet)', fontStyle: 'italic' },
  { tag: tags.string, color: 'var(--green)' },
  { tag: [tags.special(tags.string), tags.labelName, tags.typeName, tags.meta], color: 'var(--amber)' },
]);

const editorTheme = [look, syntaxHighlighting(highlighting)];
