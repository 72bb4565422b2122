import { delimiter } from 'node:path';
import type { Program } from '../spawn-problem.ts';
import type { FailedStart, OutputFiles, StartedProcess } from '../started-process.ts';
import { canOpen, hasNoNul, isProgram, systemPython } from './python-process.ts';
import { SharedStarter, type StartConditions } from './shared-starter.ts';

/** With fewer programs, a starter does not repay the cost of starting it. */
const worthwhileFrom = 24;

/**
 * Starts the programs of this process through a starter, once it is worthwhile. Linux copies the page tables of a process
 * for each child it forks, and Node waits for that: 0.5 ms a step; a small process takes 0.1. Until the starter is open, and
 * without Python, Node starts programs.
 */
export class ProgramStarter {
  readonly #paths = new Map<string, string | null>();
  #asked = 0;
  readonly #python: string | null;
  /** Undefined until it is worthwhile; null without Python. */
  #shared: SharedStarter | null | undefined;

  /** `python`: the path of a Python, which may be missing; null: there is none. */
  constructor(python: string | null = systemPython) {
    this.#python = python;
  }

  /**
   * `expected`: number of programs to come, if known. Null: start the program in another way, which also reports errors
   * best, after what it waits for; unless it was asked to end.
   */
  start(
    program: Program,
    files: OutputFiles,
    { expected, ...conditions }: StartConditions & { readonly expected: number },
  ): Promise<StartedProcess | FailedStart | null> | null {
    this.#asked += 1;
    if (Math.max(this.#asked, expected) < worthwhileFrom) return null;
    const path = this.#find(program);
    if (path === null) return null;
    if (this.#shared === undefined) this.#shared = this.#openShared(program.env);
    if (this.#shared?.state !== 'ready') return null;
    const texts = this.#shared.request({ ...program, ...files, path });
    return hasNoNul(texts) ? this.#shared.start(texts, conditions) : null;
  }

  /**
   * Requests a flush of a file before the start of any program requested later. Resolves to its duration in nanoseconds; to
   * null if it failed. Null: there is no starter that could do it.
   */
  flush(path: string): Promise<number | null> | null {
    return this.#shared?.state === 'ready' && hasNoNul([path]) ? this.#shared.flush(path) : null;
  }

  /** Ends the starter now; otherwise it ends with this process. */
  close(): void {
    this.#shared?.close();
  }

  /** One that is gone is not replaced: its successor would end for the same reason. */
  #openShared(env: Program['env']): SharedStarter | null {
    const python = this.#python;
    return python !== null && canOpen(python, env) ? new SharedStarter(python, env) : null;
  }

  /** Resolves a program name to a file, once; null if uncertain. */
  #find({ argv: [name = ''], env }: Program): string | null {
    if (name.startsWith('/')) return name;
    const path = env['PATH'];
    if (name.includes('/') || path === undefined) return null;
    const key = `${name}\0${path}`;
    const known = this.#paths.get(key);
    if (known !== undefined) return known;
    const found = path.split(delimiter).every((directory) => directory.startsWith('/'))
      ? path
          .split(delimiter)
          .map((directory) => `${directory}/${name}`)
          .find(isProgram)
      : undefined;
    this.#paths.set(key, found ?? null);
    return found ?? null;
  }
}
