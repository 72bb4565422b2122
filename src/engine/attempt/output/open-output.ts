import { closeSync, openSync } from 'node:fs';
import type { Step } from '#core/workflow.ts';
import type { RunSecrets } from '#environment/run-secrets.ts';
import type { AttemptLog } from '#executors/executor.ts';
import type { LogForm, OpenLogs, ProgramStream } from '#store/logs.ts';
import type { RunFiles } from '#store/store.ts';
import { messageOf, WfError } from '#system/errors.ts';
import { nextTurn } from '#system/turns.ts';
import { type AttemptOutput, directOutput } from './attempt-output.ts';
import type { MaskedOutputs, OpenPipe, Pipe } from './masked-output.ts';

/** Options for opening an attempt's output. */
export type OutputOptions = {
  readonly openPipe: OpenPipe;
  readonly files: RunFiles;
  readonly secrets: RunSecrets;
  readonly outputs: MaskedOutputs;
  readonly warn: (step: string, message: string) => void;
  readonly maxOutputBytes: number;
};

/**
 * Opens the output of an attempt. A process writes directly into its log, except for streams that have to be masked or
 * separated: those go through a pipe. Sub-workflow steps are always masked, since a child run may report
 * secrets of its own.
 */
export async function openOutput(
  step: Step,
  number: number,
  { openPipe, files, secrets, outputs, warn, maxOutputBytes }: OutputOptions,
): Promise<AttemptOutput | { readonly problem: string }> {
  // Its instances have the output.
  if (step.fanOut !== undefined) return directOutput(nullLog(), maxOutputBytes);
  const form = logFormOf(step);
  const { logs, problem } = openLogs(files, { step: step.name, attempt: number, form });
  const { log } = logs;
  if (problem !== null) {
    const key = (['output', 'stdout', 'stderr'] as const).find(
      (name) => step[name] !== null || (name === 'output' && keepsOf(step).length > 0),
    );
    if (key !== undefined) {
      directOutput(log, maxOutputBytes).close();
      return { problem: `"${key}" needs the log of the step: ${problem}` };
    }
    warn(step.name, notKept(step.name, problem));
  }
  const isOther = step.executor.type === 'workflow';
  const isMasked = isOther || secrets.areInPlay;
  const keeps = keepsOf(step);
  // Both, for a stream that is written to the log at once would come before one that is read first.
  const isDivided = keeps.length + form.kept.length > 0;
  const isPiped = isMasked || (!form.isSeparate && (isDivided || reopens(step)));
  if (!isPiped) return directOutput(log, maxOutputBytes);
  const piped = ['stdout', 'stderr'] as const;
  const names = step.output === null ? (step.published ?? []).map(({ key }) => key) : [step.output];
  const isSecret = names.some((name) => secrets.isSecret(name));
  const onFailure = (error: unknown) => warn(step.name, notKept(step.name, messageOf(error)));
  const isOne = !form.isSeparate && !isDivided;
  try {
    const pipes = await openPipes(piped, isOne, () => (isOther ? null : openPipe(files.scratch())));
    const output = outputs.start(logs, { pipes, keeps, isSecret, maxOutputBytes, onFailure });
    // Of two pipes that have data before the event loop watches them, it does not know which had data first. This turn may
    // have looked for data already, the next one has not.
    for (let turn = 0; !isOne && turn < 2; turn++) await nextTurn();
    return output;
  } catch (error) {
    closeLogs(logs);
    const what = isMasked ? 'masked' : 'separated';
    return { problem: `the output cannot be ${what}: cannot create a pipe: ${messageOf(error)}` };
  }
}

function closePipe({ readFd, writeFd, remove }: Pipe): void {
  for (const fd of [readFd, writeFd]) closeSync(fd);
  remove();
}

/** A pipe for each of the streams; `isOne`: the same for all. */
async function openPipes(
  streams: readonly ProgramStream[],
  isOne: boolean,
  open: () => Promise<Pipe> | null,
): Promise<ReadonlyMap<ProgramStream, Pipe | null>> {
  const first = await open();
  const [one, ...others] = streams;
  try {
    const rest = others.map(async (stream) => [stream, isOne ? first : await open()] as const);
    return new Map([...(one === undefined ? [] : [[one, first] as const]), ...(await Promise.all(rest))]);
  } catch (error) {
    if (first !== null) closePipe(first);
    throw error;
  }
}

/**
 * A step that copies its streams to files, or to whose streams a text refers, keeps those alone too. Both streams in one
 * file are a copy of the log.
 */
function logFormOf({ logOutput, stdout, stderr, namedStreams = [] }: Step): LogForm {
  if (logOutput === 'separate') return { isSeparate: true, kept: [] };
  const copied = { stdout: stdout !== null, stderr: stderr !== null };
  const isOneFile = stdout !== null && stdout === stderr;
  const isKept = (stream: ProgramStream) => namedStreams.includes(stream) || (copied[stream] && !isOneFile);
  return { isSeparate: false, kept: (['stdout', 'stderr'] as const).filter(isKept) };
}

/**
 * Whether its text opens its output again, as `> /dev/stderr` does: that would empty the log of both streams. A pipe has
 * nothing to empty.
 */
function reopens({ command, script, args }: Step): boolean {
  return /\/dev\/(?:std(?:out|err)|fd\/[12])\b|\/proc\/self\/fd\/[12]\b/.test(
    [command, script, args].flat().join('\n'),
  );
}

/** The streams whose whole output becomes a value. */
function keepsOf({ output, published = [] }: Step): readonly ProgramStream[] {
  const streams = published.flatMap(({ value }) =>
    'from' in value && (value.from === 'stdout' || value.from === 'stderr') ? [value.from] : [],
  );
  return output === null ? streams : ['stdout', ...streams];
}

type LogRequest = { readonly step: string; readonly attempt: number; readonly form: LogForm };

/** Opens an attempt's logs. If the disk refuses, the step still runs and its output is lost. */
function openLogs(
  files: RunFiles,
  { step, attempt, form }: LogRequest,
): { readonly logs: OpenLogs; readonly problem: string | null } {
  try {
    return { logs: files.logs.open(step, attempt, form), problem: null };
  } catch (error) {
    if (!(error instanceof WfError)) throw error;
    return { logs: { log: nullLog(), kept: {} }, problem: error.message };
  }
}

function closeLogs({ log, kept }: OpenLogs): void {
  for (const { fd } of Object.values(kept)) closeSync(fd);
  directOutput(log, 0).close();
}

const DEV_NULL = '/dev/null';

function nullLog(): AttemptLog {
  const files = { stdoutPath: DEV_NULL, stderrPath: DEV_NULL };
  const fd = openSync(DEV_NULL, 'a');
  return { ...files, isDirect: true, files, stdoutFd: fd, stderrFd: fd };
}

/** Warning for a step whose log cannot be written. */
function notKept(step: string, why: string): string {
  return `the output of "${step}" is not stored: ${why}`;
}
