import { differences, type Fingerprint, shortened, staleReasons } from '#core/fingerprint.ts';
import type { EarlierSuccess, Outcome } from '#core/run/run.ts';
import type { UpToDateRule } from '#core/workflow.ts';
import { EvaluationProblem } from '#environment/environment.ts';
import { cachedPatterns, type Inspection, inspectInputs } from '#environment/fingerprint.ts';
import type { CacheSlot, FingerprintStore, ResultCache, StoredSuccess } from '#store/store.ts';
import { errorCode, messageOf, systemProblem, WfError } from '#system/errors.ts';
import type { AttemptReport } from '../driver/step-task.ts';
import type { AttemptContext, StepScope } from './attempt-context.ts';

/** A step that is up to date, or the end of the attempt that runs it. */
export type Checked =
  | { readonly report: AttemptReport }
  /** Called with the outcome of the attempt: stores its success. */
  | { readonly ended: (outcome: Outcome) => Promise<void> };

/** How many paths a message names. */
const MAX_SHOWN = 3;

/**
 * Checks before an attempt whether its step is up to date, or can be by restoring an earlier success: only then is no attempt made.
 * Only the first attempt may find that, since one that fails may have changed the generated files. Throws an `EvaluationProblem` for sources that cannot be read.
 */
export async function checkUpToDate(context: AttemptContext, own: StepScope, rule: UpToDateRule): Promise<Checked> {
  const { fingerprints } = context.files;
  if (fingerprints === undefined) return { ended: async () => {} };
  try {
    return await new Check(context, own, { rule, fingerprints: await fingerprints() }).run();
  } catch (error) {
    if (!(error instanceof WfError)) throw error;
    throw new EvaluationProblem(`the fingerprint of the step: ${error.message}`);
  }
}

class Check {
  readonly #context: AttemptContext;
  readonly #own: StepScope;
  readonly #rule: UpToDateRule;
  readonly #store: FingerprintStore;

  constructor(
    context: AttemptContext,
    own: StepScope,
    { rule, fingerprints }: { readonly rule: UpToDateRule; readonly fingerprints: FingerprintStore },
  ) {
    this.#context = context;
    this.#own = own;
    this.#rule = rule;
    this.#store = fingerprints;
  }

  async run(): Promise<Checked> {
    const { step, number, clock, warn, signal, checked, isForced, isAssumed } = this.#context;
    const { success, isCurrent, damage } = this.#store.read(step.name);
    if (damage !== null) warn(`the fingerprint of the last success is dropped: ${damage}`);
    if (success !== null && isAssumed && number === 1) return upToDate(success);
    const before = await this.#inspect();
    const reasons = staleReasons(before, success?.entries ?? null, { isCurrent, isForced });
    // An attempt that was asked to end runs nothing.
    if (signal.aborted) return { ended: async () => {} };
    if (success !== null && reasons.length === 0 && number === 1) return upToDate(success);
    const cached = await this.#cache(before);
    const restored = cached === null || isForced || number > 1 ? null : await this.#restore(cached, before);
    if (restored !== null) return upToDate(restored, { restored: true });
    if (signal.aborted) return { ended: async () => {} };
    checked(shortened(reasons, success?.runId));
    const token = this.#store.begin(step.name);
    const startedAt = clock.now();
    return { ended: (outcome) => this.#ended(outcome, { before, token, startedAt, cached }) };
  }

  /** Never fails the attempt: without a stored success, the step runs again. */
  async #ended(
    outcome: Outcome,
    {
      before,
      token,
      startedAt,
      cached,
    }: { before: Inspection; token: string; startedAt: number; cached: Cached | null },
  ): Promise<void> {
    const { step, runId, clock, warn } = this.#context;
    try {
      const obstacle = outcome.status === 'succeeded' ? await this.#obstacle(outcome.outputs, before) : null;
      if (obstacle !== null) warn(`the step will run again: ${obstacle}`);
      const at = clock.now();
      const end = { runId, at, durationMs: Math.max(0, at - startedAt), entries: before.entries };
      const success =
        outcome.status === 'succeeded' && obstacle === null
          ? { ...end, exitCode: outcome.exitCode, outputs: outcome.outputs }
          : null;
      const isStored = this.#store.end(step.name, token, success);
      if (success === null) return;
      if (!isStored) warn('the step will run again: another run of it began meanwhile');
      else if (cached !== null) await this.#keep(cached, success);
    } catch (error) {
      if (!(error instanceof WfError || error instanceof EvaluationProblem)) throw error;
      warn(`the step will run again: ${error.message}`);
    }
  }

  /** The cache, and where a success with these inputs is in it; null if the step has none. */
  async #cache({ entries }: Inspection): Promise<Cached | null> {
    const { step, files, isUncached } = this.#context;
    const { cache: rule } = this.#rule;
    if (rule === undefined || isUncached) return null;
    const cache = await files.results?.();
    if (cache === undefined || cache.maxBytes === 0) return null;
    return { cache, slot: { step: step.name, scope: rule.scope, entries } };
  }

  /** Returns the success whose files were restored, which is then the last one; null: the step has to run. Never fails. */
  async #restore({ cache, slot }: Cached, before: Inspection): Promise<StoredSuccess | null> {
    const { step, signal, warn } = this.#context;
    try {
      const { success: found, damage } = cache.read(slot);
      if (damage !== null) {
        cache.drop(slot);
        warn(`an earlier success is dropped from the cache: ${damage}`);
      }
      if (found === null) return null;
      const token = this.#store.begin(step.name);
      const { restoreGenerated } = await import('./cached-files.ts');
      const problem = await restoreGenerated(found.files, signal, { cwd: this.#own.cwd, cache });
      if (problem !== null) {
        cache.drop(slot);
        warn(`the success of run ${found.runId} is dropped from the cache: ${problem}`);
        return null;
      }
      if (signal.aborted) return null;
      cache.use(slot);
      const { runId, at, durationMs, exitCode, outputs } = found;
      const success = { runId, at, durationMs, exitCode, outputs, entries: before.entries };
      const obstacle = await this.#obstacle(outputs, before);
      if (obstacle === null && this.#store.end(step.name, token, success)) return success;
      warn(`the success of run ${runId} was restored and is not used: ${obstacle ?? 'another run of the step began'}`);
    } catch (error) {
      const reason = reasonOf(error);
      if (reason === null) throw error;
      warn(`an earlier success cannot be restored: ${reason}`);
    }
    return null;
  }

  /** Keeps a success for later runs. Never fails the attempt. */
  async #keep({ cache, slot }: Cached, { entries: _, ...success }: StoredSuccess): Promise<void> {
    const { kill, warn } = this.#context;
    const { cwd, scope } = this.#own;
    try {
      const draft = cache.begin();
      try {
        const { keepGenerated } = await import('./cached-files.ts');
        const kept = await keepGenerated(cachedPatterns(this.#rule, scope), this.#context, { cwd, cache, draft });
        if ('files' in kept) draft.end(slot, { ...success, files: kept.files });
        else if (kept.obstacle !== null && !kill.aborted) warn(`the success is not cached: ${kept.obstacle}`);
      } finally {
        draft.close();
      }
    } catch (error) {
      const reason = reasonOf(error);
      if (reason === null) throw error;
      warn(`the success is not cached: ${reason}`);
    }
  }

  /** Why the success of the attempt cannot stand for later ones; null if it can. */
  async #obstacle(outputs: Readonly<Record<string, string>>, before: Inspection): Promise<string | null> {
    const { secrets } = this.#context;
    const secret = Object.keys(outputs).find((name) => {
      const value = outputs[name] ?? '';
      return secrets.isSecret(name) || secrets.shared.mask(value) !== value;
    });
    if (secret !== undefined) return `its output "${secret}" contains a secret`;
    const after = await this.#inspect();
    const missing = after.reasons.find(({ kind }) => kind === 'output');
    if (missing !== undefined) return `it generated no file that matches "${missing.name}"`;
    const changed = [...changedSources(before.entries, after.entries), ...changedStamps(before, after)];
    if (changed.length === 0) return null;
    const more = changed.length > MAX_SHOWN ? ` and ${changed.length - MAX_SHOWN} more` : '';
    const names = changed.slice(0, MAX_SHOWN).map((path) => `"${path}"`);
    return `${names.join(', ')}${more} changed while it ran`;
  }

  async #inspect(): Promise<Inspection> {
    const { step, workflow, variables, clock, signal } = this.#context;
    const hashes = this.#store.hashes(step.name);
    const inspection = await inspectInputs({
      workflow,
      step,
      rule: this.#rule,
      ...this.#own,
      args: variables.args,
      key: this.#store.key(),
      hashes,
      now: clock.now,
      signal,
    });
    if (!signal.aborted) hashes.save();
    return inspection;
  }
}

/** The cache, and the place of the success of a step in it. */
type Cached = { readonly cache: ResultCache; readonly slot: CacheSlot };

function upToDate(
  { exitCode, outputs, runId: from, durationMs: savedMs }: StoredSuccess,
  how: Pick<EarlierSuccess, 'restored'> = {},
): Checked {
  const outcome = { status: 'succeeded', exitCode, outputs } as const;
  return { report: { outcome, facts: {}, upToDate: { from, savedMs, ...how } } };
}

/** Why files cannot be read or written; null for an internal error. */
function reasonOf(error: unknown): string | null {
  if (error instanceof WfError || error instanceof EvaluationProblem) return error.message;
  return systemProblem(error)?.message ?? (errorCode(error) === '' ? null : messageOf(error));
}

/** Variables and keys are the same before and after an attempt. */
function changedSources(before: Fingerprint, after: Fingerprint): readonly string[] {
  return differences(before, after).flatMap(({ kind, name }) => (kind === 'source' ? [name] : []));
}

function changedStamps(before: Inspection, after: Inspection): readonly string[] {
  const known = new Set(before.stamps);
  return after.stamps.filter((stamp) => !known.has(stamp)).map((stamp) => stamp.slice(0, stamp.lastIndexOf(' ')));
}
