import { createJsonReporter } from '../../render/reporters/json.ts';
import type { OutputMode } from '../../render/reporters/left-output.ts';
import { createPlainReporter } from '../../render/reporters/plain.ts';
import { createQuietReporter } from '../../render/reporters/quiet.ts';
import type { Reporter } from '../../render/reporters/reporter.ts';
import { chooseReporter, type ReporterKind } from '../../render/reporters/select.ts';
import type { RecapOptions } from '../../render/views/recap.ts';
import type { Console } from '../terminal/console.ts';
import { parseReporters } from './reporter-list.ts';

/** Output is gathered for this long before it is written: short enough to be live, long enough to write many lines at once. */
const gatherMs = 15;

/** What the settings say of how a run is shown. */
export type ReporterNeeds = {
  readonly output: OutputMode;
  /** Whether the run is kept, so that commands can be suggested that look it up. */
  readonly kept: boolean;
  /** What the commands need that a recap suggests, with a space before it. */
  readonly commandOptions: string;
};

/** All reporters of a run as one, and which of them writes to standard output. */
export type ChosenReporter = { readonly reporter: Reporter; readonly kind: ReporterKind };

/**
 * The reporters asked for; what of them writes to standard output is else chosen to fit it. Throws a `WfError` `usage` for what is no reporter, and for a file that could not be written.
 */
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
  const { createFileReports } = await import('./file-reports.ts');
  const { groupReporters } = await import('../../render/reporters/reporter-group.ts');
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
  // Not worth waiting for: whoever ends writes what was gathered.
  const defer = (callback: () => void) => void setTimeout(callback, gatherMs).unref();
  switch (kind) {
    case 'tree':
      return (await import('./tree-reporter.ts')).treeReporter(console, recap, output);
    case 'plain':
      return createPlainReporter(terminal, { ...recap, now, defer });
    case 'github':
      return (await import('./github.ts')).githubReporter(console, recap);
    case 'json':
      return createJsonReporter(terminal, { now, defer });
    case 'quiet':
      return createQuietReporter(terminal, recap);
  }
}

/** What every recap of this process depends on. `commandOptions`: what the commands need that it suggests. */
export function recapOptions(commandOptions = '', kept = true): RecapOptions {
  return { cwd: process.cwd(), commands: { logs: kept, retry: kept, options: commandOptions } };
}

/** Whether a variable that stands for yes or no says yes. */
export function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== 'false' && value !== '0';
}
