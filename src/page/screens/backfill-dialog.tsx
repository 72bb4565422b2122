import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Backfill, RunHead, WorkflowDetail } from '#run-view/api/types.ts';
import { StatusIcon } from '#run-view/components.ts';
import { counted, runLook } from '#run-view/texts.ts';
import { to } from '../api/address.ts';
import { api, ask } from '../api/client.ts';
import { useRequest } from '../data/resource.ts';
import { FormDialog } from '../parts/dialog.tsx';
import { ProblemBox } from '../parts/problem-box.tsx';
import { momentText } from '../parts/time.tsx';

const ASK_AGAIN_MS = 1000;
/** The most moments that are drawn. */
const MAX_DRAWN = 1000;

type Rerun = '' | 'failed' | 'all';

type BackfillProps = { readonly workflow: WorkflowDetail; readonly onClose: () => void };

/** Runs a workflow for past moments: first a preview of them, then their progress. */
export function BackfillDialog({ workflow, onClose }: BackfillProps) {
  const asked = useSignal({ from: '', to: '', every: '', max: '1', rerun: '' as Rerun });
  /** What would start, or the backfill once it has begun. */
  const shown = useSignal<Backfill | null>(null);
  const hasBegun = useSignal(false);
  const request = useRequest();
  const { from, to: end, every, max, rerun } = asked.value;
  const change = (field: Partial<typeof asked.value>) => {
    asked.value = { ...asked.value, ...field };
    shown.value = null;
  };
  const backfill = shown.value;
  const isGoing = hasBegun.value && backfill?.finishedAt === null;
  useEffect(() => (isGoing && backfill !== null ? follow(backfill.id, shown) : undefined), [isGoing]);
  const start = (dryRun: boolean) =>
    ask(
      api.POST('/api/v2/workflows/{name}/backfills', {
        params: { path: { name: workflow.id } },
        body: {
          ...{ from, to: end, max: Number(max), dryRun },
          ...{ every: every === '' ? null : every, rerun: rerun === '' ? null : rerun },
        },
      }),
    );
  const stop = (id: string) => ask(api.DELETE('/api/v2/backfills/{id}', { params: { path: { id } } }));
  const nextAction = () => {
    if (hasBegun.value) return { action: 'Start no more', isReady: isGoing && backfill?.stopped !== true };
    if (backfill === null) return { action: 'Preview', isReady: from !== '' && end !== '' };
    return { action: `Start ${counted(dueOf(backfill), 'run')}`, isReady: dueOf(backfill) > 0 };
  };
  const submit = async () => {
    if (hasBegun.value && backfill !== null) shown.value = await stop(backfill.id);
    else if (backfill === null) shown.value = await start(true);
    else {
      shown.value = await start(false);
      hasBegun.value = true;
    }
    request.isPending.value = false;
  };
  const { action, isReady } = nextAction();
  return (
    <FormDialog
      title={`Backfill ${workflow.name}`}
      action={action}
      cancel={hasBegun.value ? 'Close' : 'Cancel'}
      isReady={isReady}
      request={request}
      submit={submit}
      onClose={onClose}
    >
      {!hasBegun.value && (
        <>
          <Field id="backfill-from" label="From">
            <input
              id="backfill-from"
              type="date"
              value={from}
              onInput={(event) => change({ from: event.currentTarget.value })}
            />
          </Field>
          <Field
            id="backfill-to"
            label="To"
            note={`Not included; in the time zone ${workflow.schedule.timeZone ?? 'of the daemon'}`}
          >
            <input
              id="backfill-to"
              type="date"
              aria-describedby="backfill-to-note"
              value={end}
              onInput={(event) => change({ to: event.currentTarget.value })}
            />
          </Field>
          <Field id="backfill-every" label="Moments" note="A cron expression; empty: those of the schedule">
            <input
              id="backfill-every"
              type="text"
              autocomplete="off"
              spellcheck={false}
              placeholder={workflow.schedule.start.join(', ')}
              aria-describedby="backfill-every-note"
              value={every}
              onInput={(event) => change({ every: event.currentTarget.value })}
            />
          </Field>
          <Field id="backfill-max" label="Runs at once">
            <input
              id="backfill-max"
              type="number"
              min="1"
              max="100"
              required
              value={max}
              onInput={(event) => change({ max: event.currentTarget.value })}
            />
          </Field>
          <Field id="backfill-rerun" label="Run again">
            <select
              id="backfill-rerun"
              value={rerun}
              onChange={(event) => change({ rerun: event.currentTarget.value as Rerun })}
            >
              <option value="">No moment that has run</option>
              <option value="failed">Those that failed</option>
              <option value="all">All</option>
            </select>
          </Field>
        </>
      )}
      {backfill !== null && <Moments backfill={backfill} hasBegun={hasBegun.value} />}
      {request.problem.value !== null && <ProblemBox problem={request.problem.value} />}
    </FormDialog>
  );
}

type FieldProps = {
  readonly id: string;
  readonly label: string;
  readonly note?: string;
  readonly children: ComponentChildren;
};

function Field({ id, label, note, children }: FieldProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      {note !== undefined && (
        <p class="field-note quiet" id={`${id}-note`}>
          {note}
        </p>
      )}
    </div>
  );
}

function dueOf({ counts }: Backfill): number {
  return counts.left + counts.running;
}

/** Reads a backfill again and again until the result is called. */
function follow(id: string, shown: { value: Backfill | null }): () => void {
  const timer = setInterval(async () => {
    const read = ask(api.GET('/api/v2/backfills/{id}', { params: { path: { id } } }));
    // The page itself reports a daemon that does not answer.
    const backfill = await read.catch(() => null);
    if (backfill !== null) shown.value = backfill;
  }, ASK_AGAIN_MS);
  return () => clearInterval(timer);
}

/** A symbol for each moment, which leads to its run. */
function Moments({ backfill, hasBegun }: { backfill: Backfill; hasBegun: boolean }) {
  const { counts, moments, error } = backfill;
  const more = moments.length - MAX_DRAWN;
  const words = [
    counted(moments.length, 'moment'),
    ...(counts.done === 0 ? [] : [`${counts.done} done`]),
    ...(counts.failed === 0 ? [] : [`${counts.failed} failed`]),
    ...(counts.running === 0 ? [] : [`${counts.running} running`]),
    ...(counts.left === 0 ? [] : [hasBegun ? `${counts.left} left` : `${counts.left} to start`]),
  ];
  return (
    <>
      <p role="status">{words.join(', ')}</p>
      <ul class="moments" aria-label="Moments">
        {moments.slice(0, MAX_DRAWN).map((moment) => (
          <li key={moment.scheduledFor}>
            <MomentMark moment={moment} />
          </li>
        ))}
      </ul>
      {more > 0 && <p class="quiet">and {counted(more, 'later moment')}</p>}
      {error !== undefined && <p class="field-problem">No more runs start: {error}</p>}
    </>
  );
}

const states = { done: 'succeeded', failed: 'failed', running: 'running', left: 'queued' } as const;

function MomentMark({ moment: { scheduledFor, state, status, runId } }: { moment: Backfill['moments'][number] }) {
  const look =
    state === 'left'
      ? { kind: 'pending' as const, word: 'left' }
      : runLook((status as RunHead['status'] | null) ?? states[state]);
  const label = `${momentText(scheduledFor)}: ${look.word}`;
  const icon = <StatusIcon look={look} label={label} />;
  return runId === null ? icon : <a href={to.run(runId)}>{icon}</a>;
}
