import { accessSync, constants, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { junitReport, type Recap, type Reporter } from '#render/reporters.ts';
import { messageOf, tryOr, WfError } from '#system/errors.ts';
import type { Console } from '../terminal/console.ts';
import { writeWhole } from '../terminal/write-file.ts';
import type { FileReport } from './reporter-list.ts';

/** Creates the reporters that write files. Throws a `WfError` `usage` at first; later problems are only printed. */
export function createFileReports(files: readonly FileReport[], { err }: Pick<Console, 'err'>): readonly Reporter[] {
  const cwd = process.cwd();
  return files.map(({ kind, path }) => {
    const target = reportFile(path, cwd);
    const render = (recap: Recap) => renderings[kind](recap, cwd);
    return createFileReporter(render, (text) => {
      try {
        writeWhole(target, text);
      } catch (error) {
        err.write(`wf: the report "${path}" was not written: ${messageOf(error)}\n`);
      }
    });
  });
}

const renderings: { readonly [kind in FileReport['kind']]: (recap: Recap, cwd: string) => string } = {
  junit: junitReport,
  summary: ({ summary }) => `${JSON.stringify(summary, null, 2)}\n`,
};

/** Returns the path of a report. Throws a `WfError` `usage` if it cannot be written, before the run starts. */
function reportFile(path: string, cwd: string): string {
  const target = resolve(cwd, path);
  const problem = problemWith(target);
  if (problem === null) return target;
  const { why, ...help } = problem;
  throw new WfError('usage', `the report "${path}" cannot be written: ${why}`, help);
}

function problemWith(target: string): { readonly why: string; readonly help?: string } | null {
  const stats = statSync(target, { throwIfNoEntry: false });
  if (stats?.isDirectory()) return { why: 'it is a directory' };
  // A pipe or a device is written in place.
  if (stats !== undefined && !stats.isFile()) return null;
  const directory = dirname(target);
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) {
    return { why: `there is no directory "${directory}"`, help: `create it first: mkdir -p "${directory}"` };
  }
  const isWritable = tryOr(false, () => accessSync(directory, constants.W_OK) === undefined);
  return isWritable ? null : { why: `the directory "${directory}" is not writable` };
}

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
  const each = <T>(all: readonly T[], call: (one: T) => void) => {
    for (const one of all) call(one);
  };
  const readers = reporters.filter(({ wantsOutput }) => wantsOutput);
  return {
    wantsOutput: readers.length > 0,
    wantsTails: reporters.some(({ wantsTails }) => wantsTails),
    begin: (workflow, runId) => each(reporters, (reporter) => reporter.begin(workflow, runId)),
    event: (event, state) => each(reporters, (reporter) => reporter.event(event, state)),
    output: (chunk) => each(readers, (reporter) => reporter.output(chunk)),
    child: (run) => {
      const children = reporters.flatMap(({ child }) => child?.(run) ?? []);
      return {
        event: (event, state) => each(children, (child) => child.event(event, state)),
        output: (chunk) => each(children, (child) => child.output(chunk)),
      };
    },
    prompt: (prompt) => each(reporters, (reporter) => reporter.prompt?.(prompt)),
    estimate: (usualMs) => each(reporters, (reporter) => reporter.estimate?.(usualMs)),
    end: (recap) => each(reporters, (reporter) => reporter.end(recap)),
    abandon: () => reporters.map(({ abandon }) => abandon?.() ?? '').join(''),
  };
}
