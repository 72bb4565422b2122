import { instanceName, splitInstanceName } from '#core/fan-out/instance-name.ts';
import { stepState } from '#core/run/run-state.ts';
import { originOf, type RunSummary, type StepSummary } from '#core/summary/summary.ts';
import type { PastRun } from '../past-run.ts';

/** A run that has logs. `only`: the names of the steps or instances whose logs it has; null if it has all that are asked for. */
export type LogPart = { readonly run: RunSummary; readonly only: ReadonlySet<string> | null };

/**
 * Returns the runs that have the logs of a step, or of all, the earliest first: what retries have kept has its logs in an
 * earlier run, unless that was removed. At least one run. `read` returns null for a run that does not exist.
 */
export async function logParts(
  asked: RunSummary,
  step: string | null,
  read: (runId: string) => Promise<RunSummary | null>,
): Promise<readonly LogPart[]> {
  const all = [{ run: asked, only: null }];
  const nodes = nodesOf(asked, step);
  let wanted: ReadonlySet<string> = new Set(nodes.map(({ name }) => name));
  const parts: LogPart[] = [];
  let run: RunSummary | null = asked;
  while (run !== null && wanted.size > 0) {
    const found: readonly StepSummary[] = nodesOf(run, step).filter(({ name }) => wanted.has(name));
    const kept: ReadonlySet<string> = new Set(found.filter(isKept).map(({ name }) => name));
    const own = found
      .filter(({ name, attempts }) => !kept.has(name) && (attempts > 0 || run === asked))
      .map(({ name }) => name);
    // A run that is followed may get more instances.
    const hasAll = own.length === nodes.length || (step === null && run === asked);
    if (own.length > 0) parts.unshift({ run, only: hasAll ? null : new Set(own) });
    wanted = kept;
    run = kept.size === 0 || run.retryOf === null ? null : await read(run.retryOf);
  }
  return parts.length === 0 ? all : parts;
}

/** The step or instance that a user names, or all; of a fan-out, its instances. */
function nodesOf({ steps, handlers }: RunSummary, name: string | null): readonly StepSummary[] {
  if (name === null) return [...steps, ...handlers].flatMap<StepSummary>((step) => step.items ?? [step]);
  const step = steps.find((each) => each.name === name);
  if (step !== undefined) return step.items ?? [step];
  const instance = splitInstanceName(name);
  const items = steps.find((each) => each.name === instance?.step)?.items ?? [];
  return items.filter((item) => item.name === name || instanceName(instance?.step ?? '', String(item.index)) === name);
}

function isKept({ status, attempts }: StepSummary): boolean {
  return attempts === 0 && (status === 'succeeded' || status === 'failed');
}

/** Names the run whose logs are printed. */
export function keptText(step: string | null, { run: { runId }, only }: LogPart): string {
  if (only === null) return `step "${step}" was kept from run ${runId}, which has this output`;
  const [one] = only;
  const many = step === null ? `${only.size} steps were` : `${only.size} instances of "${step}" were`;
  const count = only.size > 1 ? many : `${step === null ? 'step' : 'the instance'} "${one}" was`;
  return `${count} kept from run ${runId}, which has this output`;
}

/** Reports that a followed run did not end by itself, so that its output may be incomplete; null if it did. */
export function lostText({ runId, reason, error }: Pick<RunSummary, 'runId' | 'reason' | 'error'>): string | null {
  return reason === 'lost' ? `run ${runId} is lost: ${error ?? 'its process died'}` : null;
}

/** Explains why a run or a step has no output. */
export function whyNothing({ state, runId }: Pick<PastRun, 'state' | 'runId'>, step: string | null): string {
  if (step === null) return `no step of run ${runId} has been started`;
  const { cache } = stepState(state, step);
  if (cache?.hit) return `step "${step}" was up to date: its output is that of run ${cache.from}`;
  const origin = originOf(state, stepState(state, step));
  if (origin !== null) return `step "${step}" was kept from run ${origin}: its output is there`;
  return `step "${step}" has not been started`;
}
