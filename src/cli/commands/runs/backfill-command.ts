import { type Config, workflowDirectories } from '#config/config.ts';
import { counted, escapeControls, formatDuration, shortId } from '#render/text.ts';
import {
  type BackfillMoment,
  type BackfillRange,
  BackfillWork,
  backfillId,
  backfillRange,
  backfillView,
  MAX_MOMENTS,
  momentBefore,
  planBackfill,
  type Rerun,
  requireMoments,
  runReader,
} from '#service/backfill.ts';
import type { LocalService } from '#service/local-service.ts';
import { acceptParams, type StartRequest } from '#service/start-runs.ts';
import { getWorkflow } from '#service/workflows.ts';
import { WfError } from '#system/errors.ts';
import { zonedText } from '#system/zoned-time.ts';
import { openLocal } from '../../access/open-local.ts';
import { type AccessOptions, requireLocal } from '../../access/open-service.ts';
import { exitCodes, type StopSignal, stopSignals } from '../../exit-codes.ts';
import { configFor, workflowReference } from '../../reference.ts';
import { requester } from '../../requester.ts';
import { envFilesOf, givenParameters, type ParameterOptions } from '../../run/parameters.ts';
import { requireBackground } from '../../run/start-locally.ts';
import type { Console } from '../../terminal/console.ts';

/** The options of `wf backfill`. */
export type BackfillOptions = AccessOptions &
  ParameterOptions & {
    readonly name: string;
    readonly from?: string;
    readonly to?: string;
    readonly every?: string;
    readonly max: number;
    readonly rerun?: Exclude<Rerun, null>;
    readonly dryRun?: true;
    readonly yes?: true;
  };

/** Starts the runs of past moments of a workflow, and waits for them. Returns the exit code. */
export async function backfillCommand(options: BackfillOptions, console: Console): Promise<number> {
  const config = configFor(options);
  requireLocal(options, config, 'backfill', 'run it on the machine of the daemon');
  if (options.max < 1) throw new WfError('usage', '--max must be at least 1');
  const backfill = await planned(options, config);
  const show = createOutput(backfill, options, console);
  if (options.dryRun) {
    show.plan();
    return exitCodes.succeeded;
  }
  const service = await openLocal(config, options.dags);
  const work = new BackfillWork(backfill.file, backfill.moments, backfill.before, {
    start: (runId, moment) => service.startLoaded({ ...backfill.request, runId, moment }),
    ended: service.runs.ended,
    changed: show.changed,
  });
  show.begin();
  const stop = stopOnSignals(work, service, console, options);
  try {
    await work.run(options.max, stop.signal);
  } finally {
    stop.end();
    show.end(work.moments);
  }
  const states = new Set(work.moments.map(({ state }) => state));
  const by = stop.by();
  if (states.has('left') && by !== null) return stopSignals[by];
  return states.has('failed') || states.has('left') ? exitCodes.failed : exitCodes.succeeded;
}

type Planned = Omit<Parameters<typeof backfillView>[0], 'from' | 'to'> &
  BackfillRange & {
    readonly request: StartRequest;
    readonly moments: readonly BackfillMoment[];
    readonly before: number | null;
  };

/** Checks all that could prevent the starts, and finds the moments with their runs. */
async function planned(options: BackfillOptions, config: Config): Promise<Planned> {
  const { from = null, to = null, every = null, rerun = null, max, yes = false } = options;
  const asked = givenParameters(options);
  const strict = config.settings.read('strict').value;
  const loaded = getWorkflow(workflowReference(options.name), workflowDirectories(config), { isStrict: strict });
  const { workflow } = loaded;
  const { file, name } = workflow;
  if (file === null) throw new WfError('usage', 'wf backfill needs a file: its runs are known by it');
  const range = backfillRange({ from, to, every, yes }, workflow, (field) => `--${field}`);
  const params = acceptParams(workflow, asked);
  await requireBackground(config);
  const { loadCronTimes } = await import('#daemon/schedule/cron-times.ts');
  const { startsBetween } = await import('#daemon/schedule/next-start.ts');
  const found = startsBetween(range.schedule, await loadCronTimes(), { ...range, limit: MAX_MOMENTS + 1 });
  requireMoments(found, range);
  const { createPast } = await import('#app/history-app.ts');
  const { history, archive } = createPast(config);
  const id = backfillId(file, range, { every, params: asked });
  return {
    ...{ id, workflow: name, file, every, max, rerun, ...range },
    request: {
      ...loaded,
      params,
      envFiles: envFilesOf(options) ?? [],
      runId: null,
      trigger: 'backfill',
      strict,
      backfill: id,
    },
    moments: await planBackfill({ file, moments: found, rerun }, runReader(archive, history)),
    before: await momentBefore(file, found[0] ?? range.from, history),
  };
}

/** Prints a backfill: a line for each moment that ends, or all as JSON at the end. */
function createOutput(backfill: Planned, { json }: BackfillOptions, { out, err }: Console) {
  const { id, workflow, from, to, schedule, moments } = backfill;
  const time = (at: number) => zonedText(at, schedule.timeZone);
  const print = (line: string) => out.write(`${escapeControls(line)}\n`);
  const printJson = (all: readonly BackfillMoment[]) =>
    out.write(`${JSON.stringify(backfillView(backfill, all), null, 2)}\n`);
  const begin = () => {
    if (!json)
      print(`backfill ${id} of "${workflow}" from ${time(from)} to ${time(to)}: ${counted(moments.length, 'moment')}`);
  };
  const line = ({ at, run, state, isDue, runId }: BackfillMoment) => {
    const took = run?.durationMs == null ? '' : `  ${formatDuration(run.durationMs)}`;
    const what = isDue && state === 'left' ? 'starts' : (run?.status ?? state).replace('_', ' ');
    const which = run === null ? '' : `  run ${shortId(runId)}`;
    print(`  ${time(at)}  ${what}${took}${which}${run?.error == null ? '' : `  ${run.error}`}`);
  };
  return {
    begin,
    plan: () => {
      if (json) return printJson(moments);
      begin();
      for (const moment of moments) line(moment);
    },
    changed: (moment: BackfillMoment) => {
      if (!json && (moment.state === 'done' || moment.state === 'failed')) line(moment);
    },
    end: (all: readonly BackfillMoment[]) => {
      if (json) return printJson(all);
      const { counts } = backfillView(backfill, all);
      const before = moments.filter(({ isDue }) => !isDue);
      const failed = before.filter(({ state }) => state === 'failed').length;
      const parts = [
        `${counts.done} succeeded${before.length > failed ? ` (${before.length - failed} before)` : ''}`,
        ...(counts.failed === 0 ? [] : [`${counts.failed} failed${failed > 0 ? ` (${failed} before)` : ''}`]),
        ...(counts.left === 0 ? [] : [`${counts.left} left`]),
      ];
      print(`${parts.join(', ')}`);
      if (failed > 0) err.write('  help: --rerun failed runs those that failed before again\n');
    },
  };
}

/** The first signal stops starting; each later one stops the running runs, and kills what was stopped before. */
function stopOnSignals(work: BackfillWork, service: LocalService, { out, err }: Console, { json }: BackfillOptions) {
  const stopped = new AbortController();
  let first: StopSignal | null = null;
  const onSignal = (signal: StopSignal) => {
    const running = work.moments.filter(({ state }) => state === 'running');
    if (first === null) {
      first = signal;
      stopped.abort();
      const what = running.length === 1 ? 'a run' : counted(running.length, 'run');
      const print = json ? err : out;
      if (running.length > 0) print.write(`no more runs start; waiting for ${what}: again to stop\n`);
      return;
    }
    for (const { runId } of running) {
      service.runs.stop(runId, { by: requester('backfill'), kill: 'if-repeated' }).catch((error: unknown) => {
        err.write(`wf: ${escapeControls(String(error instanceof Error ? error.message : error))}\n`);
      });
    }
  };
  const signals = Object.keys(stopSignals) as StopSignal[];
  for (const signal of signals) process.on(signal, onSignal);
  return {
    signal: stopped.signal,
    by: () => first,
    end: () => {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}
