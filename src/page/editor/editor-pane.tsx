import '../styles/editor.css';
import type { Extension } from '@codemirror/state';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { Schema } from '#language/schema/schema-type.ts';
import type { Diagnostic, WorkflowDetail } from '#run-view/api/types.ts';
import { counted } from '#run-view/texts.ts';
import { type ApiProblem, advice } from '../api/client.ts';
import { isOffline } from '../data/connection.ts';
import { useResource } from '../data/resource.ts';
import { type Draft, dropDraft, openDraft } from '../data/workflows/edited-file.ts';
import { guardChanges, leaving, wantsToLeave } from '../data/workflows/unsaved.ts';
import { Button } from '../parts/controls.tsx';
import { ConfirmDialog } from '../parts/dialog.tsx';
import { LoadingOrProblem, positionText } from '../parts/problem-box.tsx';
import { CodeEditor } from './code-editor.ts';

/** Delay between the last key and the check of the text, in milliseconds. */
const CHECK_DELAY_MS = 300;

type PaneProps = { readonly workflow: WorkflowDetail; readonly onClose: () => void };

/** The editor of a workflow file. */
export function EditorPane({ workflow, onClose }: PaneProps) {
  const { value, problem, refresh } = useResource(() => openDraft(workflow.id), [workflow.id]);
  if (value === null) return <LoadingOrProblem problem={problem} retry={refresh} />;
  return <Editing key={value.workflow} draft={value} workflow={workflow} onClose={onClose} />;
}

function Editing({ draft, workflow, onClose }: PaneProps & { draft: Draft }) {
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

  const isOff = draft.isSaving.value || isOffline.value;
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
        <Button class="plain" text="Find" onClick={() => editor.current?.find()} />
        {theirs.value === null && (
          <Button
            class="plain"
            text="Compare"
            aria-pressed={isComparing.value}
            disabled={!isDirty.value && !isComparing.value}
            onClick={() => (isComparing.value = !isComparing.value)}
          />
        )}
        <Button text={isDirty.value ? 'Cancel' : 'Close'} onClick={close} />
        {theirs.value === null && (
          <Button class="main" text="Save" disabled={!isDirty.value || isOff} onClick={() => void save()} />
        )}
      </div>
      <Conflict draft={draft} isOff={isOff} onSave={() => void save()} />
      <Refusal failure={draft.failure.value} isOff={isOff} onSave={() => void save({ allowInvalid: true })} />
      <div class="editor-host" ref={host} />
      <ProblemList
        problems={problems.value}
        onChoose={({ line, column }) => editor.current?.goTo(line ?? 1, column ?? 1)}
      />
      <p class="editor-keys quiet">
        <kbd>Ctrl Space</kbd> completes · <kbd>Ctrl S</kbd> saves · <kbd>Ctrl F</kbd> finds · <kbd>Tab</kbd> indents;{' '}
        <kbd>Esc</kbd> then <kbd>Tab</kbd> leaves the editor
      </p>
      {wantsToLeave.value !== null && (
        <ConfirmDialog
          title="Discard your changes?"
          action="Discard the changes"
          onCancel={() => (wantsToLeave.value = null)}
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

type SaveProps = { readonly isOff: boolean; readonly onSave: () => void };

/** Two users have changed the file: the editor shows both texts. */
function Conflict({ draft, isOff, onSave }: { draft: Draft } & SaveProps) {
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
        <Button
          text="Take all of theirs"
          onClick={() => {
            draft.text.value = theirs.value?.text ?? draft.text.value;
            draft.acceptTheirs();
          }}
        />
        <Button class="main" text="Save this text" disabled={isOff} onClick={onSave} />
      </div>
    </div>
  );
}

/** The reason why the text was not saved. */
function Refusal({ failure, isOff, onSave }: { failure: ApiProblem | null } & SaveProps) {
  if (failure === null) return null;
  if (failure.status !== 422)
    return (
      <div class="editor-note" role="alert">
        <p>
          <strong>Not saved: {failure.message}.</strong> {failure.help} The text stays here.
        </p>
      </div>
    );
  return (
    <div class="editor-note" role="alert">
      <p>
        <strong>Not saved: the text has errors.</strong> A workflow with errors cannot be started.
      </p>
      <div class="actions">
        <Button text="Save anyway" disabled={isOff} onClick={onSave} />
      </div>
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

type ListProps = { readonly problems: readonly Diagnostic[]; readonly onChoose: (problem: Diagnostic) => void };

/** The problems of a text; each links to its position. */
function ProblemList({ problems, onChoose }: ListProps) {
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
  const parts = ['error', 'warning'].flatMap((kind) => {
    const count = problems.filter(({ severity }) => severity === kind).length;
    return count === 0 ? [] : [counted(count, kind)];
  });
  return parts.join(', ') || 'No problems';
}
