import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { Diagnostic } from '#run-view/api/types.ts';
import { ApiProblem } from '../../api/client.ts';
import { checkText, readText, saveText, type TaggedText } from './file-requests.ts';

/** An edited text of a workflow file. */
export type Draft = {
  readonly workflow: string;
  /** The text of the file as it was last read or saved. */
  readonly base: ReadonlySignal<TaggedText>;
  readonly text: Signal<string>;
  readonly isDirty: ReadonlySignal<boolean>;
  /** The text that another user has saved meanwhile; null if there is none. */
  readonly theirs: ReadonlySignal<TaggedText | null>;
  readonly problems: ReadonlySignal<readonly Diagnostic[]>;
  /** The reason why the last save failed. */
  readonly failure: ReadonlySignal<ApiProblem | null>;
  readonly isSaving: ReadonlySignal<boolean>;
  /**
   * Saves the text; returns whether it was saved, also by an earlier save whose response was lost. Sets `theirs` if the
   * file has changed otherwise since it was read.
   */
  readonly save: (options?: { readonly allowInvalid?: boolean }) => Promise<boolean>;
  /** Checks the current text. */
  readonly check: (signal: AbortSignal) => Promise<void>;
  /** Rebases on the other user's text so that saving overwrites it. */
  readonly acceptTheirs: () => void;
  /** Reads the file again, unless the text has unsaved changes. */
  readonly follow: () => Promise<void>;
};

/** Unsaved texts outlive their screen, so that an expired login or a wrong click loses nothing. */
const kept = new Map<string, Draft>();

/** Returns the text under edit, or reads the file. */
export async function openDraft(workflow: string): Promise<Draft> {
  const draft = kept.get(workflow) ?? createDraft(workflow, await readText(workflow));
  kept.set(workflow, draft);
  return draft;
}

/** Discards a text with its changes. */
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
  /** The last text that was sent to the daemon, which may have saved it although its response was lost. */
  let sent: string | null = null;

  const save: Draft['save'] = async ({ allowInvalid = false } = {}) => {
    if (isSaving.value) return false;
    isSaving.value = true;
    failure.value = null;
    const saved = text.value;
    sent = saved;
    try {
      markSaved({ text: saved, tag: await saveText(workflow, { text: saved, tag: base.value.tag }, allowInvalid) });
      return true;
    } catch (error) {
      const problem = ApiProblem.of(error);
      if (problem.status === 412) return await compareWithFile(saved);
      failure.value = problem;
      if (problem.diagnostics.length > 0) problems.value = problem.diagnostics.map(ofOwnFile(workflow));
      return false;
    } finally {
      isSaving.value = false;
    }
  };
  const markSaved = (saved: TaggedText) => {
    base.value = saved;
    theirs.value = null;
    failure.value = null;
  };
  /** Reads the file after a conflict; returns whether it contains the text. */
  const compareWithFile = async (saved: string): Promise<boolean> => {
    try {
      const found = await readText(workflow);
      if (found.text === saved) markSaved(found);
      else theirs.value = found;
      return found.text === saved;
    } catch (error) {
      failure.value = ApiProblem.of(error);
      return false;
    }
  };
  const follow = async (): Promise<void> => {
    const before = base.value;
    const found = await readText(workflow);
    // A save has completed meanwhile, and the text may be older than it.
    if (base.value !== before) return follow();
    if (found.tag === before.tag) return;
    if (!isDirty.value) {
      base.value = found;
      text.value = found.text;
    } else if (found.text === sent) markSaved(found);
    else theirs.value = found;
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
        // If the daemon does not respond, the next change or the save reports it.
      }
    },
    acceptTheirs: () => {
      if (theirs.value !== null) base.value = theirs.value;
      theirs.value = null;
    },
    follow,
  };
}

/** A refused save names the file by its path, a check names it `-`. */
function ofOwnFile(workflow: string): (problem: Diagnostic) => Diagnostic {
  return (problem) => (problem.file?.endsWith(`/${workflow}`) ? { ...problem, file: '-' } : problem);
}
