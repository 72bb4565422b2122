import { isTerminal } from '#fast/os.ts';
import {
  chooseReporter,
  createJsonReporter,
  createPlainReporter,
  createQuietReporter,
  type OutputMode,
  type RecapOptions,
  type Reporter,
  type ReporterKind,
} from '#render/reporters.ts';
import { type Console, isSet } from '../terminal/console.ts';
import { parseReporters } from './reporter-list.ts';

/** Output is collected for this long before it is written: short enough to look live, long enough for many lines. */
const GATHER_MS = 15;

type ReporterNeeds = {
  readonly output: OutputMode;
  /** Whether the run is stored, so that commands which read it can be suggested. */
  readonly kept: boolean;
  /** The options of the commands that a recap suggests, with a leading space. */
  readonly commandOptions: string;
};

/** All reporters of a run as one, and the kind of the one that writes to standard output. */
export type ChosenReporter = { readonly reporter: Reporter; readonly kind: ReporterKind };

/** Creates the requested reporters, or one that fits standard output. Throws a `WfError` `usage`. */
export async function createReporter(
  asked: readonly string[],
  console: Console,
  needs: ReporterNeeds,
): Promise<ChosenReporter> {
  const { outTerminal, env } = console;
  const { terminal, files } = parseReporters(asked);
  const kind = chooseReporter(terminal, {
    isTerminal: outTerminal.isTerminal,
    ci: isSet(env['CI']),
    githubActions: isSet(env['GITHUB_ACTIONS']),
    term: env['TERM'] ?? '',
  });
  const reporter = await terminalReporter(kind, console, needs);
  if (files.length === 0) return { reporter, kind };
  const { createFileReports, groupReporters } = await import('./file-reports.ts');
  return { reporter: groupReporters([reporter, ...createFileReports(files, console)]), kind };
}

async function terminalReporter(
  kind: ReporterKind,
  console: Console,
  { output, kept, commandOptions }: ReporterNeeds,
): Promise<Reporter> {
  const recap = recapOptions(commandOptions, kept);
  const { outTerminal: terminal } = console;
  const now = Date.now;
  // The timer keeps no process alive: the end of the run writes the batch.
  const defer = (callback: () => void) => void setTimeout(callback, GATHER_MS).unref();
  switch (kind) {
    case 'tree':
      return (await import('./tree-reporter.ts')).treeReporter(console, recap, output);
    case 'plain':
      return createPlainReporter(terminal, { ...recap, now, defer });
    case 'github':
      return (await import('./github-reporter.ts')).githubReporter(console, recap);
    case 'json':
      return createJsonReporter(terminal, { now, defer });
    case 'quiet':
      return createQuietReporter(terminal, recap);
  }
}

/** Returns the options of every recap. `commandOptions`: the options of the commands that it suggests. */
export function recapOptions(commandOptions = '', kept = true): RecapOptions {
  return { cwd: process.cwd(), commands: { logs: kept, retry: kept, options: commandOptions } };
}

/** Whether a person can be prompted: standard input and standard error are terminals, and this is not a CI service. */
export function isInteractive({ errTerminal, env }: Pick<Console, 'errTerminal' | 'env'>): boolean {
  return isTerminal(0) && errTerminal.isTerminal && !isSet(env['CI']) && !isSet(env['GITHUB_ACTIONS']);
}
