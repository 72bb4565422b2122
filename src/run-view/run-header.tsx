import type { ComponentChildren } from 'preact';
import { formatDuration, formatElapsed, shortId } from '#render/text.ts';
import type { RunGraph, RunHead, StepView } from './api/types.ts';
import { countLooks, presentLook, presentRunLook, StatusIcon, type StatusKind } from './status.tsx';
import { MAX_TEXT, shortened } from './texts.ts';

type HeaderProps = {
  readonly run: RunHead;
  /** Without handlers. */
  readonly steps: readonly StepView[];
  readonly now: number;
  /** The usual duration of its workflow, in milliseconds; null: unknown. */
  readonly usualMs?: number | null;
  readonly name: ComponentChildren;
  readonly facts?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children?: ComponentChildren;
};

/** The status and origin of a run, in a few lines. */
export function RunHeader(props: HeaderProps) {
  const { run, steps, now, usualMs = null, name, facts, actions, children } = props;
  const look = presentRunLook(run);
  return (
    <header class={`card run-header ${look.kind}`}>
      <div class="run-title">
        <StatusIcon look={look} />
        <h1>{name}</h1>
        <code class="quiet" title={run.runId}>
          {shortId(run.runId)}
        </code>
        <span class="space" />
        {actions && <div class="actions">{actions}</div>}
      </div>
      <p class="outcome">
        <strong>{outcomeText(run, now, usualMs)}</strong>
        {run.lateSince !== undefined && <span class="late">, late</span>} {facts}
      </p>
      {run.error !== null && run.reason !== 'step' && <p class="run-error">{shortened(run.error, MAX_TEXT)}</p>}
      <Progress steps={steps} />
      {children}
    </header>
  );
}

/** `Failed after 6.2s`, `Running for 12s of ~2m05s`, `Awaiting approval, running for 12s`. */
function outcomeText(run: RunHead, now: number, usualMs: number | null): string {
  const { kind, word } = presentRunLook(run);
  const text = word.charAt(0).toUpperCase() + word.slice(1);
  if (run.durationMs !== null) return `${text} after ${formatDuration(run.durationMs)}`;
  // The start of a run whose journal is lost is unknown.
  if (run.finishedAt !== null) return text;
  const usual = usualMs === null || run.status !== 'running' ? '' : ` of ~${formatDuration(usualMs)}`;
  const elapsed = formatElapsed(now - Date.parse(run.startedAt ?? run.createdAt)) + usual;
  // The time of the whole run, not that of the wait.
  return kind === 'approval' ? `${text}, running for ${elapsed}` : `${text} for ${elapsed}`;
}

const order: readonly StatusKind[] = [
  'failed',
  'tolerated',
  'canceled',
  'succeeded',
  'up-to-date',
  'approval',
  'running',
  'waiting',
  'scheduled',
  'skipped',
  'upstream_failed',
  'pending',
];

/** The number of steps with each status, as a bar and in words. */
function Progress({ steps }: { steps: readonly StepView[] }) {
  const present = countLooks(steps.map(presentLook)).toSorted(
    (a, b) => order.indexOf(a.look.kind) - order.indexOf(b.look.kind),
  );
  const total = present.reduce((sum, { count }) => sum + count, 0);
  let start = 0;
  return (
    <>
      <svg class="share" width="100%" height="6" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        {present.map(({ look, count }) => {
          const x = start;
          start += (100 * count) / total;
          return <rect key={look.word} class={look.kind} x={x} y="0" width={start - x} height="6" />;
        })}
      </svg>
      <ul class="counts">
        {present.map(({ look, count }) => (
          <li key={look.word} class={look.kind}>
            <StatusIcon look={look} />
            {count.toLocaleString('en')} {look.word}
          </li>
        ))}
      </ul>
    </>
  );
}

type Timed = Pick<StepView, 'name' | 'startedAt' | 'finishedAt' | 'kept'>;

/** The critical path: each step is the dependency of the next that finished last. Empty if no step waited for another. */
export function criticalPath(steps: readonly Timed[], edges: RunGraph['edges']): readonly string[] {
  const ran = steps.filter(({ startedAt, kept }) => startedAt !== null && !kept);
  const ends = new Map(
    ran.flatMap(({ name, finishedAt }) => (finishedAt === null ? [] : [[name, finishedAt] as const])),
  );
  const needs = new Map<string, string[]>();
  for (const { from, to } of edges) needs.set(to, [...(needs.get(to) ?? []), from]);
  const latest = (names: Iterable<string>): string | undefined => {
    let found: string | undefined;
    for (const name of names) {
      const end = ends.get(name);
      if (end !== undefined && (found === undefined || end > (ends.get(found) ?? ''))) found = name;
    }
    return found;
  };
  const path: string[] = [];
  for (let at = latest(ends.keys()); at !== undefined; at = latest(needs.get(at) ?? [])) path.unshift(at);
  return path.length > 1 ? path : [];
}
