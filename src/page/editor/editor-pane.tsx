import '../styles/editor.css';
import type { Extension } from '@codemirror/state';
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { Schema } from '#language/schema/schema-type.ts';
import type { Diagnostic, WorkflowDetail } from '#run-view/api/types.ts';
import { counted } from '#run-view/texts.ts';
import { advice } from '../api/client.ts';
import { isOffline } from '../data/connection.ts';
import { createResource } from '../data/resource.ts';
import { type Draft, dropDraft, openDraft } from '../data/workflows/edited-file.ts';
import { guardChanges, leaving, wantsToLeave } from '../data/workflows/unsaved.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { ProblemBox } from '../parts/problem-box.tsx';
import { Loading } from '../parts/screen.tsx';
import { CodeEditor } from './code-editor.ts';

/** Delay between the last key and the check of the text, in milliseconds. */
const CHECK_DELAY_MS = 300;

type PaneProps = { readonly workflow: WorkflowDetail; readonly onClose: () => void };

/** The editor of a workflow file. */
export function EditorPane({ workflow, onClose }: PaneProps): JSX.Element {
  const draft = useMemo(() => createResource(() => openDraft(workflow.id)), [workflow.id]);
  useEffect(() => void draft.refresh(), [draft]);
  const { value, problem } = draft.known.value;
  if (value !== null) return <Editing key={value.workflow} draft={value} workflow={workflow} onClose={onClose} />;
  return problem === null ? <Loading /> : <ProblemBox problem={problem} retry={() => void draft.refresh()} />;
}

function Editing({ draft, workflow, onClose }: PaneProps & { draft: Draft }): JSX.Element {
  const { route } = useLocation();
  const editor = useRef<CodeEditor | null>(null);
  const host = useRef<HTMLDivElement>(null);
  const isComparing = useSignal(false);
  const { isDirty, theirs, problems } = draft;

  useEffect(() => {
    if (host.current === null) return;
    const made = new CodeEditor(host.current, `Text of ${workflow.file}`, draft.text, readHelp());
    editor.current = made;
    const [first] = workflow.diagnostics;
    made.goTo(first?.line ?? 1, first?.column ?? 1);
    return () => made.destroy();
  }, [draft]);

  useEffect(() => guardChanges(() => isDirty.value, route), [draft, route]);
  useEffect(() => () => (isDirty.value ? undefined : dropDraft(draft)), [draft]);

  // Reads the current text: keys may have been pressed since the component was drawn.
  const text = draft.text.value;
  useEffect(() => editor.current?.setText(draft.text.value), [text]);
  useEffect(() => editor.current?.setProblems(problems.value), [problems.value]);
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(() => void draft.check(abort.signal), CHECK_DELAY_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text]);
  useEffect(() => {
    const own = isComparing.value ? { text: draft.base.value.text, isTheirs: false } : null;
    void editor.current?.compare(theirs.value === null ? own : { text: theirs.value.text, isTheirs: true });
  }, [theirs.value, isComparing.value, draft.base.value]);

  // The file was changed by another user, or by the save below.
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) void draft.follow().catch(() => {});
    isFirst.current = false;
  }, [workflow.definition]);

  const save = async (options?: { allowInvalid: boolean }) => {
    if (theirs.value !== null) draft.acceptTheirs();
    if (await draft.save(options)) isComparing.value = false;
    editor.current?.focus();
  };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 's' || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      if (theirs.value === null) void save();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [draft]);

  const close = () =>
    leaving(() => {
      dropDraft(draft);
      onClose();
    });
  return (
    <section class="card editor" aria-label={`Editor of ${workflow.name}`}>
      <div class="editor-bar">
        <strong>{workflow.file.slice(workflow.file.lastIndexOf('/') + 1)}</strong>
        <span class="quiet" role="status">
          {draft.isSaving.value ? 'Saving' : isDirty.value ? 'Unsaved changes' : 'Saved'}
        </span>
        <span class="space" />
        <button type="button" class="plain" onClick={() => editor.current?.find()}>
          Find
        </button>
        {theirs.value === null && (
          <button
            type="button"
            class="plain"
            aria-pressed={isComparing.value}
            disabled={!isDirty.value && !isComparing.value}
            onClick={() => {
              isComparing.value = !isComparing.value;
            }}
          >
            Compare
          </button>
        )}
        <button type="button" onClick={close}>
          {isDirty.value ? 'Cancel' : 'Close'}
        </button>
        {theirs.value === null && (
          <button
            type="button"
            class="main"
            disabled={!isDirty.value || draft.isSaving.value || isOffline.value}
            onClick={() => void save()}
          >
            Save
          </button>
        )}
      </div>
      <Conflict draft={draft} onSave={() => void save()} />
      <Refusal draft={draft} onSave={() => void save({ allowInvalid: true })} />
      <div class="editor-host" ref={host} />
      <ProblemList
        problems={problems.value}
        onChoose={({ line, column }: Diagnostic) => editor.current?.goTo(line ?? 1, column ?? 1)}
      />
      <p class="editor-keys quiet">
        <kbd>Ctrl Space</kbd> completes · <kbd>Ctrl S</kbd> saves · <kbd>Ctrl F</kbd> finds · <kbd>Tab</kbd> indents;{' '}
        <kbd>Esc</kbd> then <kbd>Tab</kbd> leaves the editor
      </p>
      {wantsToLeave.value !== null && (
        <ConfirmDialog
          title="Discard your changes?"
          action="Discard the changes"
          onCancel={() => {
            wantsToLeave.value = null;
          }}
          onConfirm={() => {
            const go = wantsToLeave.value;
            wantsToLeave.value = null;
            draft.text.value = draft.base.value.text;
            dropDraft(draft);
            go?.();
          }}
        >
          <p>The changes of {workflow.name} are not saved.</p>
        </ConfirmDialog>
      )}
    </section>
  );
}

/** Two users have changed the file: the editor shows both texts. */
function Conflict({ draft, onSave }: { draft: Draft; onSave: () => void }): JSX.Element | null {
  const { theirs } = draft;
  if (theirs.value === null) return null;
  return (
    <div class="editor-note" role="alert">
      <p>
        <strong>Someone else has changed the file.</strong> Nothing is saved yet. Each difference shows{' '}
        <span class="theirs">their text in red</span> and <span class="mine">yours in green</span>: choose a side or
        edit, then save.
      </p>
      <div class="actions">
        <button
          type="button"
          onClick={() => {
            draft.text.value = theirs.value?.text ?? draft.text.value;
            draft.acceptTheirs();
          }}
        >
          Take all of theirs
        </button>
        <button type="button" class="main" disabled={draft.isSaving.value || isOffline.value} onClick={onSave}>
          Save this text
        </button>
      </div>
    </div>
  );
}

/** The reason why the text was not saved. */
function Refusal({ draft, onSave }: { draft: Draft; onSave: () => void }): JSX.Element | null {
  const failure = draft.failure.value;
  if (failure === null) return null;
  const hasErrors = failure.status === 422;
  return (
    <div class="editor-note" role="alert">
      {hasErrors ? (
        <>
          <p>
            <strong>Not saved: the text has errors.</strong> A workflow with errors cannot be started.
          </p>
          <div class="actions">
            <button type="button" disabled={draft.isSaving.value || isOffline.value} onClick={onSave}>
              Save anyway
            </button>
          </div>
        </>
      ) : (
        <p>
          <strong>Not saved: {failure.message}.</strong> {failure.help} The text stays here.
        </p>
      )}
    </div>
  );
}

/** Completion and documentation from the schema of workflow files, loaded in separate files. */
async function readHelp(): Promise<Extension> {
  const [{ schemaHelp }, schema] = await Promise.all([
    import('./schema-help.ts'),
    import('#language/schema/workflow.schema.json'),
  ]);
  return schemaHelp(schema.default as unknown as Schema);
}

type ProblemListProps = {
  readonly problems: readonly Diagnostic[];
  /** Called for a problem with a position in the text. */
  readonly onChoose: (problem: Diagnostic) => void;
};

/** The problems of a text; each links to its position. */
function ProblemList({ problems, onChoose }: ProblemListProps): JSX.Element {
  return (
    <section class="problems" aria-label="Problems">
      <p class="quiet" role="status">
        {summary(problems)}
      </p>
      {problems.length > 0 && (
        <ul>
          {problems.map((problem, index) => (
            <li key={index}>
              <button
                type="button"
                class="plain"
                disabled={problem.line === null || problem.file !== '-'}
                onClick={() => onChoose(problem)}
              >
                <strong class={problem.severity}>{problem.severity}</strong>
                <span>
                  {problem.message}
                  {advice(problem) !== '' && <span class="quiet"> {advice(problem)}</span>}
                </span>
                <span class="quiet">{positionText(problem)}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function summary(problems: readonly Diagnostic[]): string {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const warnings = problems.length - errors;
  const parts = [
    ...(errors === 0 ? [] : [counted(errors, 'error')]),
    ...(warnings === 0 ? [] : [counted(warnings, 'warning')]),
  ];
  return parts.length === 0 ? 'No problems' : parts.join(', ');
}

function positionText({ file, line, column }: Diagnostic): string {
  if (line === null) return '';
  const name = file === null || file === '-' ? 'line ' : `${file.slice(file.lastIndexOf('/') + 1)}:`;
  return `${name}${line}${column === null ? '' : `:${column}`}`;
}
