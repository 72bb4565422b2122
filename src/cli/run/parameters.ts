import { openSync, readSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Config } from '#config/config.ts';
import { exactJsonObject } from '#core/data/exact-json.ts';
import type { Param } from '#core/run/run.ts';
import type { Workflow } from '#core/workflow.ts';
import { parseParams, parseParamsFile } from '#language/formats.ts';
import type { StartRequest } from '#service/start-runs.ts';
import { errorCode, messageOf, systemReason, WfError } from '#system/errors.ts';
import { closing } from '#system/files.ts';
import { parseTime, TIME_FORMS } from '#system/zoned-time.ts';
import { type Console, isSet } from '../terminal/console.ts';

const VARIABLE = /^[A-Za-z_]\w*$/;

/** The ways to give parameters on the command line. */
export type ParameterOptions = {
  readonly paramsFile?: string;
  readonly params?: string;
  readonly param?: readonly string[];
  readonly envFile?: readonly string[];
  /** The name by which the command was called. */
  readonly called: string;
  readonly rest: readonly string[];
};

/** Returns all given parameters; the last value of a name counts. Throws a `WfError` `usage` for an invalid `-p`. */
export function givenParameters(options: ParameterOptions): readonly Param[] {
  const { paramsFile, params, param = [], called, rest } = options;
  // Other runners take `-p=NAME=value`; this parser leaves the sign in the value.
  const values = param.map((value) => value.replace(/^=(?=[A-Za-z_]\w*=|\{)/, ''));
  const all = [
    ...(paramsFile === undefined ? [] : readParamsFile(paramsFile)),
    ...(params === undefined ? [] : parseText(params)),
    ...values.flatMap((value) => (called === 'start' ? parseText(value) : oneOrSeveral(value))),
    ...rest.map(asParam),
  ];
  if (called !== 'start') refuseTwice(all, values);
  const last = new Map(all.map((given, i) => [given.name, i]));
  return all.filter(({ name }, i) => name === null || last.get(name) === i);
}

/** Reads `--params`, which may have a second pair of quotes around it, as other runners of this format allow. */
function parseText(text: string): readonly Param[] {
  const [only, ...more] = parseParams(text);
  if (only === undefined || only.name !== null || more.length > 0) return parseParams(text);
  return /^\s*["']\s*[A-Za-z_]\w*=/.test(text) ? parseParams(only.value) : [only];
}

/** Reads the value of `-p`: one parameter, byte for byte, several if every word of it is `NAME=value`, or a JSON object. */
function oneOrSeveral(text: string): readonly Param[] {
  const param = asParam(text);
  if (param.name === null) {
    if (exactJsonObject(text) !== null) return [param];
    const shown = JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}...` : text);
    const help = VARIABLE.test(text) ? `did you mean -p ${text}=value? ` : '';
    throw new WfError('usage', `-p takes NAME=value, got ${shown}`, {
      help: `${help}A value without a name goes after --`,
    });
  }
  const several = severalIn(text);
  return several.length > 0 ? several : [param];
}

/** Returns the parameters of a text such as `A=1 B="x y"`; none if it is a single parameter. */
function severalIn(text: string): readonly Param[] {
  if (!/ [A-Za-z_]\w*=/.test(text)) return [];
  const params = parseParams(text);
  return params.length > 1 && params.every(({ name }) => name !== null) ? params : [];
}

/** Refuses a value with ` NAME=` in it if the command line gives that parameter as well. */
function refuseTwice(all: readonly Param[], options: readonly string[]): void {
  for (const [, ...behind] of options.map(severalIn)) {
    const name = behind.find((found) => all.filter((other) => other.name === found.name).length > 1)?.name;
    if (name == null) continue;
    throw new WfError('usage', `"${name}" is given twice, once within the value of another -p`, {
      help: `a value that holds " ${name}=" goes after --, byte for byte: -- 'NAME=value'`,
    });
  }
}

/** Whether the command line gives parameters, even an empty list. */
export function hasParameters({ params, param, paramsFile, rest }: ParameterOptions): boolean {
  return params !== undefined || param !== undefined || paramsFile !== undefined || rest.length > 0;
}

/** Returns the absolute paths of the files of `--env-file`; null without the option. */
export function envFilesOf({ envFile }: ParameterOptions): readonly string[] | null {
  return envFile === undefined ? null : envFile.map((path) => resolve(path));
}

/** Reads one word of the command line. The shell has removed its quotes, so the value is kept unchanged. */
function asParam(word: string): Param {
  const named = /^([A-Za-z_][A-Za-z0-9_]*)=([\s\S]*)$/.exec(word);
  return named ? { name: named[1] ?? '', value: named[2] ?? '' } : { name: null, value: word };
}

function readParamsFile(path: string): readonly Param[] {
  let bytes: Buffer;
  try {
    bytes = readBytes(path);
  } catch (error) {
    const why = reasons[errorCode(error)] ?? systemReason(errorCode(error)) ?? messageOf(error);
    throw new WfError('not-found', `cannot read the parameters file "${path}": ${why}`);
  }
  if (bytes.length > LARGEST_FILE) throw new WfError('usage', `the parameters file "${path}" is larger than 1 MiB`);
  return parseParamsFile(path, bytes);
}

const LARGEST_FILE = 1024 * 1024;

/** Reads one byte more than is allowed, since the file may be a pipe without an end. */
function readBytes(path: string): Buffer {
  return closing(openSync(path, 'r'), (fd) => {
    const chunk = Buffer.allocUnsafe(64 * 1024);
    const chunks: Buffer[] = [];
    for (let length = 0; length <= LARGEST_FILE; ) {
      const count = readSync(fd, chunk);
      if (count === 0) break;
      chunks.push(Buffer.from(chunk.subarray(0, count)));
      length += count;
    }
    return Buffer.concat(chunks);
  });
}

const reasons: { readonly [code: string]: string } = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a directory',
};

/** The values of `--on-approval`. */
export const approvalModes = ['wait', 'reject', 'approve'] as const;

/** The option for steps that wait for approval. */
export type ApprovalOption = { readonly onApproval?: (typeof approvalModes)[number] };

type Start = { readonly options: ApprovalOption & { readonly detach?: true }; readonly config: Config };

/**
 * Returns the part of a request that `--on-approval` decides. Without the option, approvals of a run in the foreground
 * are rejected in CI, where a job would wait until its time limit, and without history, where no command finds the run.
 */
export function approvalPolicy(
  { options, config }: Start,
  { env }: Pick<Console, 'env'>,
): Pick<StartRequest, 'onApproval'> {
  const { onApproval, detach } = options;
  if (onApproval === 'wait') return {};
  if (onApproval !== undefined) return { onApproval };
  const isUnattended = isSet(env['CI']) || !config.settings.read('history').value;
  return isUnattended && !detach ? { onApproval: 'reject' } : {};
}

/** Reads the time of an option, without an offset in the time zone of the workflow. Throws a `WfError` `usage`. */
export function timeOption(option: string, text: string, { schedule }: Pick<Workflow, 'schedule'>): number {
  const at = parseTime(text, schedule.timeZone);
  if (at === null) throw new WfError('usage', `${option}: "${text}" is not a time`, { help: TIME_FORMS });
  return at;
}
