import type { ComponentChildren } from 'preact';
import type { RunStatus, StepStatus, ToleratedBy, WaitingFor } from '#core/run/run.ts';
import type { RunHead } from './api/types.ts';

/** The class that colours a status, which is also the name of its symbol. */
export type StatusKind = StepStatus | 'partly' | 'approval' | 'tolerated' | 'up-to-date';

/** The class and the name of a status. */
export type StatusLook = { readonly kind: StatusKind; readonly word: string };

const stepWords: Readonly<Record<StepStatus, string>> = {
  succeeded: 'succeeded',
  failed: 'failed',
  skipped: 'skipped',
  canceled: 'canceled',
  upstream_failed: 'not run',
  pending: 'not started',
  scheduled: 'starting',
  running: 'running',
  waiting: 'waiting',
};

/** The appearance of a step or handler. */
export function stepLook(status: StepStatus): StatusLook {
  return { kind: status, word: stepWords[status] };
}

/** Whether a step with this status has ended. */
export function isEnd(status: StepStatus): boolean {
  return !['pending', 'scheduled', 'running', 'waiting'].includes(status);
}

type StepAtWork = {
  readonly status: StepStatus;
  readonly waitingFor?: WaitingFor | undefined;
  readonly service?: { readonly ready: boolean } | undefined;
  readonly tolerated?: ToleratedBy | undefined;
  readonly upToDate?: true | undefined;
};

/** The current appearance of a step: also whether it waits for approval, whether a service is ready, whether its failure is tolerated, and whether it is up to date. */
export function presentLook({ status, waitingFor, service, tolerated, upToDate }: StepAtWork): StatusLook {
  if (waitingFor === 'approval') return { kind: 'approval', word: 'awaiting approval' };
  if (waitingFor === 'lock' || waitingFor === 'queue') return { kind: status, word: `waiting for a ${waitingFor}` };
  if (status === 'running' && service?.ready === true) return { kind: status, word: 'ready' };
  if (status === 'failed' && tolerated !== undefined) return { kind: 'tolerated', word: 'failed (tolerated)' };
  if (upToDate) return { kind: 'up-to-date', word: 'up to date' };
  return stepLook(status);
}

/** The current appearance of a run: also whether one of its steps waits for approval. */
export function presentRunLook({ status, waitingFor }: Pick<RunHead, 'status' | 'waitingFor'>): StatusLook {
  return waitingFor === undefined ? runLook(status) : { kind: 'approval', word: 'awaiting approval' };
}

/** The appearance of a run. */
export function runLook(status: RunStatus): StatusLook {
  switch (status) {
    case 'succeeded':
    case 'failed':
    case 'canceled':
    case 'skipped':
      return { kind: status, word: status };
    case 'partially_succeeded':
      return { kind: 'partly', word: 'partially succeeded' };
    case 'queued':
      return { kind: 'pending', word: 'queued' };
    case 'running':
    case 'canceling':
    case 'handling':
      return { kind: 'running', word: status === 'handling' ? 'running its handlers' : status };
  }
}

/** How often each status occurs, in the order of their first occurrences. */
export function countLooks(
  looks: readonly StatusLook[],
): readonly { readonly look: StatusLook; readonly count: number }[] {
  const counts = new Map<string, { look: StatusLook; count: number }>();
  for (const look of looks) counts.set(look.word, { look, count: (counts.get(look.word)?.count ?? 0) + 1 });
  return [...counts.values()];
}

/** How often each status occurs: `3 succeeded, 1 failed`. */
export function countsText(looks: readonly StatusLook[]): string {
  return countLooks(looks)
    .map(({ look, count }) => `${count} ${look.word}`)
    .join(', ');
}

const disc = (sign: string): ComponentChildren => [
  <circle key="c" cx="8" cy="8" r="8" />,
  <path key="p" class="in" d={sign} />,
];
const ring = (sign: string, name = 'line'): ComponentChildren => [
  <circle key="c" class="ring" cx="8" cy="8" r="7" />,
  <path key="p" class={name} d={sign} />,
];

/** Shapes of 16 by 16 units that can be distinguished without colour. The report uses the same ones. */
const shapes: Readonly<Record<StatusKind, ComponentChildren>> = {
  succeeded: disc('M4.4 8.3 7 10.9l4.7-5.3'),
  partly: disc('M4.4 8.3 7 10.9l4.7-5.3'),
  'up-to-date': ring('M4.8 5.6h6.4M4.8 8h6.4M4.8 10.4h6.4'),
  failed: disc('m5.2 5.2 5.6 5.6m0-5.6-5.6 5.6'),
  tolerated: disc('M8 4v4.6m0 2.9v.1'),
  canceled: disc('M5.6 5.6h4.8v4.8H5.6z'),
  skipped: ring('M4.5 8h6M8.3 5.3 11 8l-2.7 2.7'),
  upstream_failed: ring('m3.4 12.6 9.2-9.2'),
  pending: <circle class="ring dashed" cx="8" cy="8" r="7" />,
  scheduled: ring('M6.5 5v6l4.5-3z'),
  running: ring('M8 3a5 5 0 0 1 0 10z', 'half'),
  approval: [
    <path key="p" d="M4.35 7.6h8.3v3.2c0 2.7-1.7 4.2-4 4.2-2 0-3.1-.9-4-2.6z" />,
    <path key="f" class="line" d="M5.2 8V4.3M7.4 8V2.3M9.6 8V2.6M11.8 8.5V4.6M4.9 11.9 2.5 8.6" />,
  ],
  waiting: ring('M8 4.2V8l2.6 1.8'),
};

/** The symbol of a status. Without `label` the status must follow as a word. */
export function StatusIcon({ look, label }: { look: StatusLook; label?: string | undefined }) {
  const name =
    label === undefined ? ({ 'aria-hidden': true } as const) : ({ role: 'img', 'aria-label': label } as const);
  return (
    <svg class={`icon ${look.kind}`} width="16" height="16" viewBox="0 0 16 16" {...name}>
      {label === undefined ? null : <title>{label}</title>}
      {shapes[look.kind]}
    </svg>
  );
}
