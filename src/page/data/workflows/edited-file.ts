import { computed, type Signal, signal } from '@preact/signals';
import type { Diagnostic } from '#run-view/api/types.ts';
import { ApiProblem } from '../../api/client.ts';
import { checkText, readText, saveText, type TaggedText } from './file-requests.ts';

/** Unsaved texts outlive their screen, so that an expired login or a wrong click loses nothing. */
const kept = new Map<string, Draft>();

/** Returns the text under edit, or reads the file. */
export async function openDraft(workflow: string): Promise<Draft> {
  const draft = kept.get(workflow) ?? new Draft(workflow, await readText(workflow));
  kept.set(workflow, draft);
  return draft;
}

/** Discards a text with its changes. */
export function dropDraft({ workflow }: Draft): void {
  kept.delete(workflow);
}

/** An edited text of a workflow file. */
export class Draft {
  readonly workflow: string;
  /** The text of the file as it was last read or saved. */
  readonly base: Signal<TaggedText>;
  readonly text: Signal<string>;
  /** The text that another user has saved in the meantime; null: no other user has. */
  readonly theirs = signal<TaggedText | null>(null);
  readonly problems = signal<readonly Diagnostic[]>([]);
  readonly failure = signal<ApiProblem | null>(null);
  readonly isSaving = signal(false);
  readonly isDirty = computed(() => this.text.value !== this.base.value.text);
  /** The last text that was sent to the daemon, which may have saved it although its response was lost. */
  #sent: string | null = null;

  constructor(workflow: string, read: TaggedText) {
    this.workflow = workflow;
    this.base = signal(read);
    this.text = signal(read.text);
  }

  /** Saves the text; returns whether it is saved. Sets `theirs` if the file was changed otherwise since it was read. */
  async save({ allowInvalid = false } = {}): Promise<boolean> {
    if (this.isSaving.value) return false;
    this.isSaving.value = true;
    this.failure.value = null;
    const text = this.text.value;
    this.#sent = text;
    try {
      const { tag } = this.base.value;
      this.#markSaved({ text, tag: await saveText(this.workflow, { text, tag }, allowInvalid) });
      return true;
    } catch (error) {
      const problem = ApiProblem.of(error);
      if (problem.status === 412) return await this.#compareWithFile(text);
      this.failure.value = problem;
      if (problem.diagnostics.length > 0)
        this.problems.value = problem.diagnostics.map((each) => this.#ofOwnFile(each));
      return false;
    } finally {
      this.isSaving.value = false;
    }
  }

  async check(abort: AbortSignal): Promise<void> {
    try {
      const found = await checkText(this.workflow, this.text.value, abort);
      if (!abort.aborted) this.problems.value = found;
    } catch {
      // If the daemon does not respond, the next change or the save reports it.
    }
  }

  /** Rebases on the other user's text so that saving overwrites it. */
  acceptTheirs(): void {
    if (this.theirs.value !== null) this.base.value = this.theirs.value;
    this.theirs.value = null;
  }

  /** Reads the file again, unless the text has unsaved changes. */
  async follow(): Promise<void> {
    const before = this.base.value;
    const found = await readText(this.workflow);
    // A save has completed meanwhile, and the text may be older than it.
    if (this.base.value !== before) return this.follow();
    if (found.tag === before.tag) return;
    if (!this.isDirty.value) {
      this.base.value = found;
      this.text.value = found.text;
    } else this.#compare(found, this.#sent);
  }

  #compare(found: TaggedText, own: string | null): boolean {
    if (found.text === own) this.#markSaved(found);
    else this.theirs.value = found;
    return found.text === own;
  }

  #markSaved(saved: TaggedText): void {
    this.base.value = saved;
    this.theirs.value = null;
    this.failure.value = null;
  }

  /** Reads the file after a conflict; returns whether it contains the text. */
  async #compareWithFile(text: string): Promise<boolean> {
    try {
      return this.#compare(await readText(this.workflow), text);
    } catch (error) {
      this.failure.value = ApiProblem.of(error);
      return false;
    }
  }

  /** A refused save names the file by its path, a check names it `-`. */
  #ofOwnFile(problem: Diagnostic): Diagnostic {
    return problem.file?.endsWith(`/${this.workflow}`) ? { ...problem, file: '-' } : problem;
  }
}
