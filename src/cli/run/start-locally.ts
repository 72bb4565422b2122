import type { Config } from '#config/config.ts';
import { readLogForwarding } from '#config/part-settings.ts';
import { shortId } from '#render/text.ts';
import type { PastRun } from '#service/history.ts';
import type { AcceptedRun, Service } from '#service/service.ts';
import { LOCAL_ENGINE } from '#system/engine-address.ts';
import { WfError } from '#system/errors.ts';
import { exitCodes } from '../exit-codes.ts';
import type { CommonOptions } from '../program/add-command.ts';
import type { Console } from '../terminal/console.ts';
import { type ForegroundOptions, runInForeground } from './foreground.ts';
import type { PreparedRun, StartOptions } from './prepare-run.ts';

/** The options of `wf retry`, as the command line names them. */
export type RetryOptions = StartOptions & {
  readonly run: string;
  /** The id of the run, if `run` names its workflow. */
  readonly req?: string;
  readonly step?: string;
  readonly from?: string;
  readonly file?: true;
};

/** Starts a run on this machine and returns the exit code; with `--detach` it prints the id of a process of its own. */
export async function startLocally(
  run: PreparedRun,
  options: ForegroundOptions & CommonOptions & { readonly detach?: true },
  console: Console,
): Promise<number> {
  if (!options.detach) return runInForeground(run, options, console);
  await requireBackground(run.config);
  const { openLocal } = await import('../access/open-local.ts');
  const service = await openLocal(run.config, options.dags);
  return printDetached(await service.startLoaded(run.request), service, console);
}

/** Prints the id of a run in the background and returns the exit code. If a run with that id existed, nothing has started. */
export function printDetached(
  { runId, isNew }: AcceptedRun,
  { commandOptions }: Pick<Service, 'commandOptions'>,
  { out, err, errTerminal }: Console,
): number {
  out.write(`${runId}\n`);
  if (!isNew) err.write(`run ${runId} exists already: nothing was started\n`);
  else if (errTerminal.isTerminal)
    err.write(`wf logs${commandOptions} -f ${runId} follows it, wf stop${commandOptions} ${runId} stops it\n`);
  return exitCodes.succeeded;
}

/** Prints that there is nothing to retry and returns the exit code. */
export function printNothingToDo(runId: string, { out }: Console): number {
  out.write(`nothing to do: every step of run ${shortId(runId)} succeeded\n`);
  return exitCodes.succeeded;
}

/** Throws a `WfError` `usage` if settings do not allow runs in processes of their own. */
export async function requireBackground(config: Config): Promise<void> {
  requireHistory(config);
  if ((await readLogForwarding(config)) !== null) requireLocalEngine(config, 'logForwarding');
}

function requireHistory({ settings }: Config): void {
  const { value, source } = settings.read('history');
  if (value) return;
  throw new WfError('usage', `a run in the background must be stored, but ${source} turns the history off`);
}

/** The configuration for a new start of a run: it goes where the run was, unless an option says where. */
export function withEngineOf({ runId, state: { owner } }: PastRun, config: Config): Config {
  const { settings } = config;
  if (owner === null || !('engine' in owner) || settings.read('engine').level === 'flag') return config;
  const engine = { value: owner.engine, level: 'default', source: `run ${runId}` } as const;
  const read = ((name) => (name === 'engine' ? engine : settings.read(name))) as Config['settings']['read'];
  return { ...config, settings: { ...settings, read } };
}

/** Throws a `WfError` `usage` where only this machine carries out runs. */
function requireLocalEngine({ settings }: Config, what: string): void {
  const { value, source } = settings.read('engine');
  if (value !== LOCAL_ENGINE) throw new WfError('usage', `${what} does not work with the engine of ${source}`);
}
