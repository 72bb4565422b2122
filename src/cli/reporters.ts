import { systemClock } from '../engine/clock.ts';
import { createJsonReporter } from '../render/json.ts';
import { createPlainReporter } from '../render/plain.ts';
import { createQuietReporter } from '../render/quiet.ts';
import type { RecapOptions } from '../render/recap.ts';
import type { Reporter } from '../render/reporter.ts';
import { chooseReporter, type ReporterKind } from '../render/select.ts';
import { createTreeReporter } from '../render/tree.ts';
import type { Console } from './console.ts';
import { parseReporters } from './reporter-list.ts';

/** Output is gathered for this long before it is written: short enough to be live, long enough to write many lines at once. */
const gatherMs = 15;

/** All reporters of a run as one, and which of them writes to standard output. */
export type ChosenReporter = { readonly reporter: Reporter; readonly kind: ReporterKind };

/**
 * The reporters asked for; what of them writes to standard output is else chosen to fit it. `commandOptions`: what commands
 * need that a recap suggests. Throws a `WfError` `usage` for what is no reporter, and for a file that could not be written.
 */
export async function createReporter(
  asked: readonly string[],
  console: Console,
  commandOptions = '',
): Promise<ChosenReporter> {
  const { outTerminal, env } = console;
  const { terminal, files } = parseReporters(asked);
  const kind = chooseReporter(terminal, {
    isTerminal: outTerminal.isTerminal,
    ci: isSet(env['CI']),
    githubActions: isSet(env['GITHUB_ACTIONS']),
    term: env['TERM'] ?? '',
  });
  const reporter = await terminalReporter(kind, console, recapOptions(commandOptions));
  if (files.length === 0) return { reporter, kind };
  const { createFileReports } = await import('./file-reports.ts');
  const { groupReporters } = await import('../render/reporter-group.ts');
  return { reporter: groupReporters([reporter, ...createFileReports(files, console)]), kind };
}

async function terminalReporter(kind: ReporterKind, console: Console, recap: RecapOptions): Promise<Reporter> {
  const { outTerminal: terminal } = console;
  const now = Date.now;
  // Not worth waiting for: whoever ends writes what was gathered.
  const defer = (callback: () => void) => void setTimeout(callback, gatherMs).unref();
  switch (kind) {
    case 'tree':
      return createTreeReporter(terminal, { ...recap, clock: systemClock });
    case 'plain':
      return createPlainReporter(terminal, { ...recap, now, defer });
    case 'github':
      return (await import('./github.ts')).githubReporter(console, { ...recap, clock: systemClock });
    case 'json':
      return createJsonReporter(terminal, { now, defer });
    case 'quiet':
      return createQuietReporter(terminal, recap);
  }
}

/** What every recap of this process depends on. `commandOptions`: what the commands need that it suggests. */
export function recapOptions(commandOptions = ''): RecapOptions {
  return { cwd: process.cwd(), commands: { logs: true, retry: true, options: commandOptions } };
}

/** Whether a variable that stands for yes or no says yes. */
export function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== 'false' && value !== '0';
}
