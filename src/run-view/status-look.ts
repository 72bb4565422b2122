import type { RunStatus, StepStatus, ToleratedBy, WaitingFor } from '#core/run/run.ts';

/** The class that colours a status, which is also the name of its symbol. */
export type StatusKind = StepStatus | 'partly' | 'approval' | 'tolerated';

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

type StepAtWork = {
  readonly status: StepStatus;
  readonly waitingFor?: WaitingFor | undefined;
  readonly service?: { readonly ready: boolean } | undefined;
  readonly tolerated?: ToleratedBy | undefined;
};

/** The current appearance of a step: also whether it waits for approval, whether a service is ready, and whether its failure is tolerated. */
export function presentLook({ status, waitingFor, service, tolerated }: StepAtWork): StatusLook {
  if (waitingFor === 'approval') return { kind: 'approval', word: 'awaiting approval' };
  if (status === 'running' && service?.ready === true) return { kind: status, word: 'ready' };
  if (status === 'failed' && tolerated !== undefined) return { kind: 'tolerated', word: 'failed (tolerated)' };
  return stepLook(status);
}

/** The current appearance of a run: also whether one of its steps waits for approval. */
export function presentRunLook({
  status,
  waitingFor,
}: {
  readonly status: RunStatus;
  readonly waitingFor?: readonly string[] | undefined;
}): StatusLook {
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
