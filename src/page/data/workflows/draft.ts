import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { ApiProblem } from '../../api/problem.ts';
import type { Diagnostic } from '../../api/types.ts';
import { checkText, readText, saveText, type TaggedText } from './workflow-files.ts';

/** A text of a workflow file while it is edited. */
export type Draft = {
  readonly workflow: string;
  /** The text of the file as it was last read or saved. */
  readonly base: ReadonlySignal<TaggedText>;
  readonly text: Signal<string>;
  readonly isDirty: ReadonlySignal<boolean>;
  /** The text that someone else has saved meanwhile; null: none is known. */
  readonly theirs: ReadonlySignal<TaggedText | null>;
  readonly problems: ReadonlySignal<readonly Diagnostic[]>;
  /** Why the last save failed. */
  readonly failure: ReadonlySignal<ApiProblem | null>;
  readonly isSaving: ReadonlySignal<boolean>;
  /** Saves the text; answers whether the file has it now. Sets `theirs` if the file has another text than the known one. */
  readonly save: (options?: { readonly allowInvalid?: boolean }) => Promise<boolean>;
  /** Reports the problems of the present text. */
  readonly check: (signal: AbortSignal) => Promise<void>;
  /** Continues from the text of the other one, so that a save replaces it. */
  readonly acceptTheirs: () => void;
  /** Reads the file again, unless the text was changed here. */
  readonly follow: () => Promise<void>;
};

/** Texts with changes outlive their screen: a login that expires or a wrong click loses nothing. */
const kept = new Map<string, Draft>();

/** Returns the text that was being edited, or reads the file. */
export async function openDraft(workflow: string): Promise<Draft> {
  const draft = kept.get(workflow) ?? createDraft(workflow, await readText(workflow));
  kept.set(workflow, draft);
  return draft;
}

/** Forgets a text with its changes. */
export function dropDraft({ workflow }: Draft): void {
  kept.delete(workflow);
}

function createDraft(workflow: string, read: TaggedText): Draft {
  const base = signal(read);
  const text = signal(read.text);
  const theirs = signal<TaggedText | null>(null);
  const problems = signal<readonly Diagnostic[]>([]);
  const failure = signal<ApiProblem | null>(null);
  const isSaving = signal(false);
  const isDirty = computed(() => text.value !== base.value.text);

  const save: Draft['save'] = async ({ allowInvalid = false } = {}) => {
    if (isSaving.value) return false;
    isSaving.value = true;
    failure.value = null;
    const saved = text.value;
    try {
      const tag = await saveText(workflow, { text: saved, tag: base.value.tag }, allowInvalid);
      base.value = { text: saved, tag };
      theirs.value = null;
      return true;
    } catch (error) {
      const problem = ApiProblem.of(error);
      if (problem.status === 412) await readTheirs();
      else failure.value = problem;
      if (problem.diagnostics.length > 0) problems.value = problem.diagnostics.map(ofOwnFile(workflow));
      return false;
    } finally {
      isSaving.value = false;
    }
  };
  const readTheirs = async () => {
    try {
      theirs.value = await readText(workflow);
    } catch (error) {
      failure.value = ApiProblem.of(error);
    }
  };
  return {
    workflow,
    base,
    text,
    isDirty,
    theirs,
    problems,
    failure,
    isSaving,
    save,
    check: async (abort) => {
      try {
        const found = await checkText(workflow, text.value, abort);
        if (!abort.aborted) problems.value = found;
      } catch {
        // The next change or the save reports a daemon that does not answer.
      }
    },
    acceptTheirs: () => {
      if (theirs.value !== null) base.value = theirs.value;
      theirs.value = null;
    },
    follow: async () => {
      const found = await readText(workflow);
      if (found.tag === base.value.tag) return;
      if (isDirty.value) {
        theirs.value = found;
        return;
      }
      base.value = found;
      text.value = found.text;
    },
  };
}

/** A refused save names the file by its path, a check by `-`. */
function ofOwnFile(workflow: string): (problem: Diagnostic) => Diagnostic {
  return (problem) => (problem.file?.endsWith(`/${workflow}`) ? { ...problem, file: '-' } : problem);
}
