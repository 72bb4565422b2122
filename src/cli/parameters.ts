import { closeSync, openSync, readSync } from 'node:fs';
import type { Param } from '../core/run.ts';
import { WfError } from '../errors.ts';
import { parseParams, parseParamsFile } from '../spec/params.ts';

/** The ways to give parameters on the command line. */
export type ParameterOptions = {
  readonly paramsFile?: string;
  readonly params?: string;
  readonly param?: readonly string[];
  /** What comes after `--`. */
  readonly rest: readonly string[];
};

/** All given parameters; of several values for one name the one nearest to the end of the command line counts. */
export function givenParameters({ paramsFile, params, param, rest }: ParameterOptions): readonly Param[] {
  const all = [
    ...(paramsFile === undefined ? [] : readParamsFile(paramsFile)),
    ...(params === undefined ? [] : parseParams(params)),
    ...(param ?? []).map(asParam),
    ...rest.map(asParam),
  ];
  const last = new Map(all.map((given, i) => [given.name, i]));
  return all.filter(({ name }, i) => name === null || last.get(name) === i);
}

/** Whether any were given, be it none at all. */
export function hasParameters({ params, param, paramsFile, rest }: ParameterOptions): boolean {
  return params !== undefined || param !== undefined || paramsFile !== undefined || rest.length > 0;
}

/** One word of the command line: the shell has taken its quotes off, so the value is kept as it is. */
function asParam(word: string): Param {
  const named = /^([A-Za-z_][A-Za-z0-9_]*)=([\s\S]*)$/.exec(word);
  return named ? { name: named[1] ?? '', value: named[2] ?? '' } : { name: null, value: word };
}

function readParamsFile(path: string): readonly Param[] {
  let bytes: Buffer;
  try {
    bytes = readBytes(path);
  } catch (error) {
    throw new WfError('not-found', `cannot read the parameters file "${path}": ${reason(error)}`);
  }
  if (bytes.length > largestFile) throw new WfError('usage', `the parameters file "${path}" is larger than 1 MiB`);
  return parseParamsFile(path, bytes);
}

const largestFile = 1024 * 1024;

/** No more than what is needed to see that it is too large: it may be a pipe that never ends. */
function readBytes(path: string): Buffer {
  const fd = openSync(path, 'r');
  try {
    const chunk = Buffer.allocUnsafe(64 * 1024);
    const chunks: Buffer[] = [];
    for (let length = 0; length <= largestFile; ) {
      const count = readSync(fd, chunk);
      if (count === 0) break;
      chunks.push(Buffer.from(chunk.subarray(0, count)));
      length += count;
    }
    return Buffer.concat(chunks);
  } finally {
    closeSync(fd);
  }
}

const reasons: { readonly [code: string]: string } = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
};

function reason(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return reasons[code] ?? message;
}
