import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import type { ProcessIdentity } from '#core/run/run.ts';
import { errorCode, messageOf, systemReason, tryOr } from '#system/errors.ts';

/** How a process ended: with an exit code or by a signal. */
export type ProcessEnd = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** Files that a program's output is appended to. */
export type OutputFiles = { readonly stdoutPath: string; readonly stderrPath: string };

/** The program could not be started; `error` is a system error. */
export type FailedStart = { readonly error: unknown };

/** A started program. */
export type StartedProcess = {
  readonly identity: ProcessIdentity;
  readonly ended: Promise<ProcessEnd | FailedStart>;
  readonly abandon: () => void;
};

/** A program to start: its arguments, directory and environment. */
export type Program = {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
};

/** Why a program could not start, and the exit code that a shell would return, else null. */
type SpawnProblem = { readonly message: string; readonly exitCode: number | null };

/** Longest argument or variable in bytes: MAX_ARG_STRLEN of Linux, with its terminating NUL. */
const MAX_STRING_BYTES = 128 * 1024 - 1;

/** Explains why a program failed to start. The causes behind the kernel's error code are examined only now. */
export function explainSpawnError(error: unknown, program: Program): SpawnProblem {
  const code = errorCode(error);
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
    case 'EACCES':
    case 'EPERM':
      return directoryProblem(program.cwd) ?? programProblem(program, code);
    case 'E2BIG':
      return { message: tooLarge(program), exitCode: null };
    case 'ERR_INVALID_ARG_VALUE':
      return { message: nulCharacter(program) ?? String(error), exitCode: null };
    case 'ENOEXEC':
      return { message: `not a program: "${program.argv[0]}"`, exitCode: 126 };
    default:
      return {
        message: `"${program.argv[0]}" could not be started: ${systemReason(code) ?? messageOf(error)}`,
        exitCode: null,
      };
  }
}

function directoryProblem(directory: string): SpawnProblem | null {
  try {
    if (!statSync(directory).isDirectory()) return { message: `"${directory}" is not a directory`, exitCode: null };
    accessSync(directory, constants.X_OK);
    return null;
  } catch (error) {
    const what = errorCode(error) === 'ENOENT' ? 'does not exist' : 'cannot be entered';
    return { message: `directory "${directory}" ${what}`, exitCode: null };
  }
}

/** Like a shell: exit code 126 if the file exists, 127 if not. */
function programProblem(program: Program, code: string): SpawnProblem {
  const name = program.argv[0] ?? '';
  const [found] = candidates(name, program);
  if (found === undefined) return { message: `command not found: "${name}"`, exitCode: 127 };
  if (kindOf(found) === 'directory') return { message: `"${name}" is a directory`, exitCode: 126 };
  if (code !== 'ENOENT') return { message: `not executable: "${name}"`, exitCode: 126 };
  const interpreter = interpreterOf(found);
  if (interpreter?.endsWith('\r')) {
    const message = `"${name}" cannot be started: its lines end in CR LF; convert them to LF`;
    return { message, exitCode: 127 };
  }
  const missing = interpreter === null ? 'its dynamic loader' : `"${interpreter}", its interpreter,`;
  return { message: `"${name}" cannot be started: ${missing} was not found`, exitCode: 127 };
}

/** Files that a name may refer to; a directory of PATH may contain directories, which are not programs. */
function candidates(name: string, { cwd, env }: Program): readonly string[] {
  if (name === '') return [];
  if (name.includes('/')) return [resolve(cwd, name)].filter((path) => kindOf(path) !== null);
  const directories = (env.PATH ?? '/bin:/usr/bin').split(delimiter);
  return directories.map((directory) => resolve(cwd, directory, name)).filter((path) => kindOf(path) === 'file');
}

function kindOf(path: string): 'file' | 'directory' | null {
  return tryOr(null, () => (statSync(path).isDirectory() ? 'directory' : 'file'));
}

function interpreterOf(path: string): string | null {
  const text = tryOr('', () => readFileSync(path, 'latin1').slice(0, 256));
  return /^#![ \t]*([^ \t\n]+)/.exec(text)?.[1] ?? null;
}

function tooLarge({ argv, env }: Program): string {
  const strings = [
    ...argv.map((text, i) => ({ label: `argument ${i}`, size: Buffer.byteLength(text) })),
    ...Object.entries(env).map(([name, value]) => ({
      label: `variable "${name}"`,
      size: Buffer.byteLength(name) + 1 + Buffer.byteLength(value),
    })),
  ];
  const largest = strings.reduce((one, other) => (other.size > one.size ? other : one), { label: '', size: 0 });
  const total = strings.reduce((sum, { size }) => sum + size, 0);
  const limit = largest.size > MAX_STRING_BYTES ? `; one may have ${MAX_STRING_BYTES}` : '';
  const what = `arguments and environment are too large to start "${argv[0]}" (${total} bytes)`;
  return `${what}: ${largest.label} is the largest with ${largest.size} bytes${limit}`;
}

function nulCharacter({ argv, cwd, env }: Program): string | null {
  const argument = argv.findIndex(hasNul);
  const variable = Object.keys(env).find((name) => hasNul(name) || hasNul(env[name] ?? ''));
  const holds = 'contains a NUL character, which cannot be passed to a program';
  if (argument === 0) return `the name of the program ${holds}`;
  if (argument > 0) return `argument ${argument} of "${argv[0]}" ${holds}`;
  if (variable !== undefined) return `variable "${variable.replaceAll('\0', '')}" ${holds}`;
  return hasNul(cwd) ? `the name of the directory ${holds}` : null;
}

function hasNul(text: string): boolean {
  return text.includes('\0');
}
