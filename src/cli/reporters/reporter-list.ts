import { type ReporterKind, reporterKinds } from '#render/reporters.ts';
import { WfError } from '#system/errors.ts';
import { didYouMean, nearNames } from '#system/near-names.ts';

const fileKinds = ['junit', 'summary'] as const;

/** A report file of a run. */
export type FileReport = { readonly kind: (typeof fileKinds)[number]; readonly path: string };

/** The parsed values of `--reporter`. `terminal` is null if they do not choose one. */
export type ReporterList = { readonly terminal: ReporterKind | null; readonly files: readonly FileReport[] };

/** Reads `--reporter`, names with or without commas. Throws a `WfError` `usage`, also for two that write to one place. */
export function parseReporters(values: readonly string[]): ReporterList {
  const words = values.flatMap((value) => value.split(',').map((word) => word.trim())).filter((word) => word !== '');
  const terminals: ReporterKind[] = [];
  const files: FileReport[] = [];
  for (const word of words) {
    const equals = word.indexOf('=');
    if (equals === -1) terminals.push(terminalKind(word));
    else files.push(fileReport(word.slice(0, equals), word.slice(equals + 1)));
  }
  const [terminal, second] = [...new Set(terminals)];
  if (terminal !== undefined && second !== undefined) {
    throw new WfError('usage', `the reporters "${terminal}" and "${second}" both write to standard output`, {
      help: 'choose one of them; junit=FILE and summary=FILE can be added to any',
    });
  }
  const shared = files.find(({ path }, i) => files.findIndex((other) => other.path === path) !== i);
  if (shared !== undefined) throw new WfError('usage', `two reporters would write to "${shared.path}"`);
  return { terminal: terminal ?? null, files };
}

function terminalKind(word: string): ReporterKind {
  const known = reporterKinds.find((kind) => kind === word);
  if (known !== undefined) return known;
  if (!fileKinds.some((kind) => kind === word)) throw unknownReporter(word);
  throw new WfError('usage', `the reporter "${word}" needs a file`, { help: `write it as ${word}=FILE` });
}

function fileReport(word: string, path: string): FileReport {
  const kind = fileKinds.find((known) => known === word);
  if (kind !== undefined && path !== '') return { kind, path };
  if (kind !== undefined) throw new WfError('usage', `the reporter "${word}" needs a file after "="`);
  if (!reporterKinds.some((known) => known === word)) throw unknownReporter(word);
  throw new WfError('usage', `the reporter "${word}" writes to standard output, not to a file`, {
    help: `leave out "=${path}", or send standard output to that file`,
  });
}

function unknownReporter(word: string): WfError {
  const near = didYouMean(nearNames(word, [...reporterKinds, ...fileKinds]));
  const all = [...reporterKinds, ...fileKinds.map((kind) => `${kind}=FILE`)].join(', ');
  return new WfError('usage', `there is no reporter "${word}"`, {
    help: near === '' ? `there are ${all}` : `${near} there are ${all}`,
  });
}
