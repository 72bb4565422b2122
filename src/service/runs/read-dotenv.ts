import { fstatSync, readSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { Param } from '#core/run/run.ts';
import { expandText, lookupIn, namesIn, previewText, splitBackticks } from '#core/words/interpolate.ts';
import type { DotenvFile, Workflow } from '#core/workflow.ts';
import type { DotenvRead } from '#engine/engine.ts';
import { type Environment, mergeParams } from '#environment/environment.ts';
import type { Scope } from '#executors/executor.ts';
import { type DotenvEntry, DotenvProblem, parseDotenv } from '#language/formats.ts';
import {
  type ErrorCode,
  errorCode,
  isMissing,
  messageOf,
  systemProblem,
  systemReason,
  WfError,
} from '#system/errors.ts';
import { closing, openRegular, pathFrom } from '#system/files.ts';
import { whyUntrusted } from '#system/untrusted.ts';

const LARGEST_FILE = 1024 * 1024;
/** Linux starts no program with a longer variable. */
const LARGEST_VALUE = 100 * 1024;

/** A run whose dotenv files are read; `envFiles`: those of options. */
type DotenvRequest = {
  readonly workflow: Workflow;
  readonly params: readonly Param[];
  readonly envFiles: readonly string[];
};

type DotenvSource = {
  readonly path: string;
  readonly required: boolean;
  readonly secret: boolean;
  readonly option?: true;
};

/**
 * Reads the dotenv files of a workflow and then those of options; a later value replaces an earlier one. `secretNames`:
 * the variables whose values are secret. Throws a `WfError` `usage` that names the file and the line.
 */
export function readDotenv(
  { workflow, params, envFiles }: DotenvRequest,
  processEnv: Environment,
): DotenvRead & { readonly secretNames: readonly string[] } {
  const dirOf = directories({ workflow, params }, processEnv);
  const sources: readonly DotenvSource[] = [
    ...(workflow.dotenv ?? []).map((file) => {
      return { ...file, path: pathFrom(dirOf(file), expandText(file.path, lookupIn(processEnv)), processEnv['HOME']) };
    }),
    ...envFiles.map((path) => ({ path, required: true, secret: false, option: true as const })),
  ];
  const read = sources.map((source) => ({ ...source, entries: readSource(source, processEnv) }));
  const found = read.flatMap(({ entries, ...source }) => (entries === null ? [] : [{ ...source, entries }]));
  return {
    variables: Object.fromEntries(found.flatMap(({ entries }) => entries.map(({ name, value }) => [name, value]))),
    files: found.map(({ path, entries, option }) => ({ path, names: namesOf(entries), ...(option ? { option } : {}) })),
    missing: read.flatMap(({ path, entries }) => (entries === null ? [path] : [])),
    secretNames: found.flatMap(({ secret, entries }) => (secret ? namesOf(entries) : [])),
  };
}

/** Returns the directory of relative paths: `workingDir`. Throws `usage` if it is known only in the run. */
function directories(
  run: Pick<DotenvRequest, 'workflow' | 'params'>,
  processEnv: Environment,
): (file: DotenvFile) => string {
  let known: ReturnType<typeof knownBefore> | null = null;
  return ({ path, dir }) => {
    if (dir === undefined || isAbsolute(path) || path.startsWith('~/')) return run.workflow.dir;
    known ??= knownBefore(run, processEnv);
    const { scope, isOpen } = known;
    const name = [...namesIn(dir)].find(isOpen);
    const open = commandIn(dir) ?? (name === undefined ? null : `$${name}`);
    if (open === null) return pathFrom(run.workflow.dir, expandText(dir, scope), processEnv['HOME']);
    const why = `"${path}" is relative to "workingDir: ${dir}", and the value of ${open} is known only in the run`;
    throw new WfError('usage', `"dotenv": ${why}`, { help: 'give it as a parameter, or write an absolute path' });
  };
}

/** The variables of the process, the parameters and `env`. `isOpen`: a command sets the variable, which runs later. */
function knownBefore({ workflow, params }: Pick<DotenvRequest, 'workflow' | 'params'>, processEnv: Environment) {
  const known = new Map(Object.entries(processEnv));
  const open = new Set<string>();
  const scope: Scope = (name) => known.get(name);
  const set = (name: string, template: string) => {
    if (commandIn(template) !== null || [...namesIn(template)].some((other) => open.has(other))) open.add(name);
    else known.set(name, previewText(template, scope));
  };
  const merged = mergeParams(workflow.params, params);
  for (const { name, value, isTemplate } of merged) {
    if (name !== null && isTemplate) set(name, value);
    else if (name !== null) known.set(name, value);
  }
  const fixed = new Set(merged.map(({ name }) => name));
  for (const { name, value } of workflow.env) if (!fixed.has(name)) set(name, value);
  return { scope, isOpen: (name: string) => open.has(name) };
}

/** The first command that a text runs when it is evaluated; null without one. */
function commandIn(template: string): string | null {
  const found = splitBackticks(template).find((part) => 'command' in part);
  return found === undefined ? null : `$(${found.command})`;
}

function namesOf(entries: readonly DotenvEntry[]): readonly string[] {
  return [...new Set(entries.map(({ name }) => name))];
}

/** Returns null for a file that does not exist and need not. */
function readSource({ path, required }: DotenvSource, processEnv: Environment): readonly DotenvEntry[] | null {
  const bytes = readBytes(path, required, processEnv);
  if (bytes === null) return null;
  try {
    const entries = parseDotenv(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    const large = entries.find(({ value }) => Buffer.byteLength(value) > LARGEST_VALUE);
    if (large !== undefined) throw new DotenvProblem(large.line, `the value of "${large.name}" is larger than 100 KiB`);
    return entries;
  } catch (error) {
    if (error instanceof DotenvProblem) throw new WfError('usage', `${path}:${error.line}: ${error.message}`);
    if (!(error instanceof TypeError)) throw error;
    throw new WfError('usage', `${path}:${lineOfInvalid(bytes)}: this line is not UTF-8`);
  }
}

function readBytes(path: string, required: boolean, processEnv: Environment): Buffer | null {
  try {
    return closing(openRegular(path), (fd) => {
      const why = whyUntrusted(fstatSync(fd), processEnv);
      if (why === null) return readAll(fd, path);
      throw refused(path, why, { help: why.startsWith('every') ? `chmod o-w "${path}"` : 'change its owner' });
    });
  } catch (error) {
    if (error instanceof WfError) throw error;
    const code = errorCode(error);
    if (isMissing(error) && !required) return null;
    const why = isMissing(error) ? 'there is no such file' : (systemReason(code) ?? messageOf(error));
    // A passing shortage of the machine: a scheduled start is then repeated.
    throw refused(path, why, systemProblem(error)?.status === 503 ? { code: 'storage' } : {});
  }
}

/** Reads one byte more than is allowed: a file can grow while it is read. */
function readAll(fd: number, path: string): Buffer {
  const buffer = Buffer.alloc(LARGEST_FILE + 1);
  let length = 0;
  for (let count = -1; count !== 0 && length < buffer.length; length += count) {
    count = readSync(fd, buffer, length, buffer.length - length, null);
  }
  if (length > LARGEST_FILE) throw refused(path, 'it is larger than 1 MiB');
  return buffer.subarray(0, length);
}

function refused(path: string, why: string, { code = 'usage', ...help }: { code?: ErrorCode; help?: string } = {}) {
  return new WfError(code, `cannot read dotenv file "${path}": ${why}`, help);
}

function lineOfInvalid(bytes: Buffer): number {
  let line = 1;
  for (let start = 0; start < bytes.length; line += 1) {
    const end = bytes.indexOf(0x0a, start);
    const part = bytes.subarray(start, end === -1 ? bytes.length : end);
    if (!Buffer.from(part.toString('utf8')).equals(part)) return line;
    start += part.length + 1;
  }
  return line;
}
