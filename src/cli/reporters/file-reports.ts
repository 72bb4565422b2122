import { accessSync, constants, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { junitReport, type Recap, type Reporter } from '#render/reporters.ts';
import { messageOf, WfError } from '#system/errors.ts';
import type { Console } from '../terminal/console.ts';
import { writeWhole } from '../terminal/write-file.ts';
import type { FileReport } from './reporter-list.ts';

/**
 * Creates the reporters that write files. Throws a `WfError` `usage` for a file that cannot be written; later problems are
 * printed and do not change the run.
 */
export function createFileReports(files: readonly FileReport[], { err }: Pick<Console, 'err'>): readonly Reporter[] {
  const cwd = process.cwd();
  return files.map(({ kind, path }) => {
    const file = openReportFile(path, cwd);
    return createFileReporter(rendering(kind, cwd), (text) => {
      try {
        file.write(text);
      } catch (error) {
        err.write(`wf: the report "${path}" was not written: ${messageOf(error)}\n`);
      }
    });
  });
}

function rendering(kind: FileReport['kind'], cwd: string): (recap: Recap) => string {
  switch (kind) {
    case 'junit':
      return (recap) => junitReport(recap, cwd);
    case 'summary':
      return ({ summary }) => `${JSON.stringify(summary, null, 2)}\n`;
  }
}

/** A file that is replaced as a whole at the end: readers see the old or the new content. */
type ReportFile = {
  /** Throws a `WfError` `storage`. */
  readonly write: (text: string) => void;
};

/** Throws a `WfError` `usage` if the file cannot be written, before the run starts. */
function openReportFile(path: string, cwd: string): ReportFile {
  const target = resolve(cwd, path);
  const problem = problemWith(target);
  if (problem === null) return { write: (text) => writeWhole(target, text) };
  const { why, help } = problem;
  throw new WfError('usage', `the report "${path}" cannot be written: ${why}`, help === null ? {} : { help });
}

function problemWith(target: string): { readonly why: string; readonly help: string | null } | null {
  const stats = statSync(target, { throwIfNoEntry: false });
  if (stats?.isDirectory()) return { why: 'it is a directory', help: null };
  // A pipe or a device is written in place.
  if (stats !== undefined && !stats.isFile()) return null;
  const directory = dirname(target);
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) {
    return { why: `there is no directory "${directory}"`, help: `create it first: mkdir -p "${directory}"` };
  }
  return isWritable(directory) ? null : { why: `the directory "${directory}" is not writable`, help: null };
}

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Creates a reporter that writes one text when the run has ended. */
function createFileReporter(render: (recap: Recap) => string, write: (text: string) => void): Reporter {
  let hasBegun = false;
  return {
    wantsOutput: false,
    wantsTails: true,
    begin: () => {
      hasBegun = true;
    },
    event: () => undefined,
    output: () => undefined,
    end: (recap) => {
      if (hasBegun) write(render(recap));
    },
  };
}

/** Combines several reporters of one run. */
export function groupReporters(reporters: readonly Reporter[]): Reporter {
  const readers = reporters.filter(({ wantsOutput }) => wantsOutput);
  return {
    wantsOutput: readers.length > 0,
    wantsTails: reporters.some(({ wantsTails }) => wantsTails),
    begin: (workflow, runId) => {
      for (const reporter of reporters) reporter.begin(workflow, runId);
    },
    event: (event, state) => {
      for (const reporter of reporters) reporter.event(event, state);
    },
    output: (chunk) => {
      for (const reporter of readers) reporter.output(chunk);
    },
    child: (run) => {
      const children = reporters.flatMap(({ child }) => (child === undefined ? [] : [child(run)]));
      return {
        event: (event, state) => {
          for (const child of children) child.event(event, state);
        },
        output: (chunk) => {
          for (const child of children) child.output(chunk);
        },
      };
    },
    prompt: (prompt) => {
      for (const reporter of reporters) reporter.prompt?.(prompt);
    },
    estimate: (usualMs) => {
      for (const reporter of reporters) reporter.estimate?.(usualMs);
    },
    end: (recap) => {
      for (const reporter of reporters) reporter.end(recap);
    },
    abandon: () => reporters.map(({ abandon }) => abandon?.() ?? '').join(''),
  };
}
