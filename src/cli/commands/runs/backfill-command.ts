import { type Config, workflowDirectories } from '#config/config.ts';
import type { ClientSettings } from '#config/part-settings.ts';
import { counted, escapeControls, formatDuration, shortId } from '#render/text.ts';
import {
  type BackfillMoment,
  type BackfillRange,
  type BackfillView,
  BackfillWork,
  backfillId,
  backfillRange,
  backfillView,
  MAX_MOMENTS,
  type MomentView,
  momentBefore,
  momentView,
  planBackfill,
  type Rerun,
  requireMoments,
  runReader,
} from '#service/backfill.ts';
import type { RunActions } from '#service/service.ts';
import { acceptParams, type StartRequest } from '#service/start-runs.ts';
import { getWorkflow } from '#service/workflows.ts';
import { messageOf, WfError } from '#system/errors.ts';
import { zonedText } from '#system/zoned-time.ts';
import { openLocal } from '../../access/open-local.ts';
import { type AccessOptions, mindFileHere, serverOf, withDaemon } from '../../access/open-service.ts';
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

const MAX_AT_ONCE = 100;

/** Starts the runs of past moments of a workflow, and waits for them. Returns the exit code. */
export async function backfillCommand(options: BackfillOptions, console: Console): Promise<number> {
  const config = configFor(options);
  if (options.max < 1 || options.max > MAX_AT_ONCE)
    throw new WfError('usage', `--max must be from 1 to ${MAX_AT_ONCE}`);
  const server = await serverOf(options, config);
  const stop = stopOnSignals(options, console);
  try {
    const view =
      server === null
        ? await backfillHere(options, config, stop, console)
        : await backfillThere(server, options, stop, console);
    if (options.dryRun) return exitCodes.succeeded;
    if (view.error !== undefined) throw new WfError('usage', `no more runs start: ${view.error}`);
    const { failed, left } = view.counts;
    if (left > 0 && stop.by() !== null) return stopSignals[stop.by() as StopSignal];
    return failed + left > 0 ? exitCodes.failed : exitCodes.succeeded;
  } finally {
    stop.end();
  }
}

/** Runs here, each run in a process of its own. */
async function backfillHere(
  options: BackfillOptions,
  config: Config,
  stop: ReturnType<typeof stopOnSignals>,
  console: Console,
): Promise<BackfillView> {
  const backfill = await planned(options, config);
  const show = createOutput(options, console);
  show.begin(backfillView(backfill, backfill.moments));
  if (options.dryRun) return backfillView(backfill, backfill.moments);
  const service = await openLocal(config, options.dags);
  const work = new BackfillWork(backfill.file, backfill.moments, backfill.before, {
    start: (runId, moment) => service.startLoaded({ ...backfill.request, runId, moment }),
    ended: service.runs.ended,
    changed: (moment) => show.changed(momentView(moment)),
  });
  stop.watch(service.runs, () => work.moments.map(momentView));
  try {
    await work.run(options.max, stop.signal);
  } finally {
    show.end(backfillView(backfill, work.moments));
  }
  return backfillView(backfill, work.moments);
}

/** Follows the backfill of a daemon, which continues it if this process dies. */
async function backfillThere(
  server: ClientSettings,
  options: BackfillOptions,
  stop: ReturnType<typeof stopOnSignals>,
  console: Console,
): Promise<BackfillView> {
  const { createRemoteService, followBackfill } = await import('#client/remote-service.ts');
  const show = createOutput(options, console);
  let last: BackfillView | null = null;
  const changed = (view: BackfillView) => {
    if (last === null) show.begin(view);
    const before = last?.moments ?? view.moments;
    last = view;
    for (const [index, moment] of view.moments.entries())
      if (moment.state !== before[index]?.state) show.changed(moment);
  };
  return withDaemon(server, console, async (client) => {
    const { name, from, to, every, max, rerun, yes, dryRun = false } = options;
    await mindFileHere(client, { ...options, changes: name }, console);
    stop.watch(createRemoteService(client).runs, () => last?.moments ?? []);
    const params = givenParameters(options);
    const order = { workflow: name, from, to, every, max, rerun, yes, dryRun, params };
    const view = await followBackfill(client, order, { changed, signal: stop.signal });
    if (!dryRun) show.end(view);
    return view;
  });
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
    ...{ id, workflow: name, file, timeZone: workflow.schedule.timeZone, every, max, rerun, ...range },
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
function createOutput({ json, dryRun }: BackfillOptions, { out, err }: Console) {
  const print = (line: string) => out.write(`${escapeControls(line)}\n`);
  const printJson = (view: BackfillView) => out.write(`${JSON.stringify(view, null, 2)}\n`);
  let first: BackfillView | null = null;
  const time = (iso: string) => zonedText(Date.parse(iso), first?.timeZone ?? null);
  const line = ({ scheduledFor, state, status, durationMs, runId, error }: MomentView) => {
    const took = durationMs === null ? '' : `  ${formatDuration(durationMs)}`;
    const what = state === 'left' ? 'starts' : (status ?? state).replace('_', ' ');
    const which = runId === null ? '' : `  run ${shortId(runId)}`;
    print(`  ${time(scheduledFor)}  ${what}${took}${which}${error === null ? '' : `  ${error}`}`);
  };
  return {
    begin: (view: BackfillView) => {
      first = view;
      if (json && dryRun) return printJson(view);
      if (json) return;
      const { id, workflow, from, to, moments } = view;
      print(`backfill ${id} of "${workflow}" from ${time(from)} to ${time(to)}: ${counted(moments.length, 'moment')}`);
      if (dryRun) for (const moment of moments) line(moment);
    },
    changed: (moment: MomentView) => {
      if (!json && (moment.state === 'done' || moment.state === 'failed')) line(moment);
    },
    end: (view: BackfillView) => {
      if (json) return printJson(view);
      const before = first?.counts ?? { done: 0, failed: 0 };
      const { done, failed, left } = view.counts;
      const part = (count: number, word: string, earlier: number) =>
        `${count} ${word}${earlier > 0 ? ` (${earlier} before)` : ''}`;
      const parts = [
        part(done, 'succeeded', before.done),
        ...(failed === 0 ? [] : [part(failed, 'failed', before.failed)]),
        ...(left === 0 ? [] : [`${left} left`]),
      ];
      print(parts.join(', '));
      if (before.failed > 0) err.write('  help: to run the failed moments again, add --rerun failed\n');
    },
  };
}

/** The first signal stops starting; each later one stops the running runs, and kills those that were stopped before. */
function stopOnSignals({ json }: BackfillOptions, { out, err }: Console) {
  const stopped = new AbortController();
  let runs: Pick<RunActions, 'stop'> | null = null;
  let momentsNow: () => readonly MomentView[] = () => [];
  let first: StopSignal | null = null;
  const onSignal = (signal: StopSignal) => {
    const running = momentsNow().flatMap(({ state, runId }) => (state === 'running' && runId !== null ? [runId] : []));
    if (runs === null) process.exit(stopSignals[signal]);
    if (first === null) {
      first = signal;
      stopped.abort();
      const what = running.length === 1 ? 'a run' : counted(running.length, 'run');
      const print = json ? err : out;
      if (running.length > 0) print.write(`no more runs start; waiting for ${what}: again to stop\n`);
      return;
    }
    for (const runId of running) {
      runs.stop(runId, { by: requester('backfill'), kill: 'if-repeated' }).catch((error: unknown) => {
        err.write(`wf: ${escapeControls(messageOf(error))}\n`);
      });
    }
  };
  const signals = Object.keys(stopSignals) as StopSignal[];
  for (const signal of signals) process.on(signal, onSignal);
  return {
    signal: stopped.signal,
    by: () => first,
    /** Called before the first run starts; until then a signal ends the process. */
    watch: (actions: Pick<RunActions, 'stop'>, moments: () => readonly MomentView[]) => {
      runs = actions;
      momentsNow = moments;
    },
    end: () => {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}
