import { delimiter } from 'node:path';
import type { Program } from '../spawn-problem.ts';
import type { FailedStart, OutputFiles, StartedProcess } from '../started-process.ts';
import { canOpen, hasNoNul, isProgram, systemPython } from './python-process.ts';
import type { ProgramStart } from './reports.ts';
import { SharedStarter, type StartConditions } from './shared-starter.ts';
import { Starter } from './starter.ts';

/** With fewer programs, starters do not repay the cost of starting them. */
const worthwhileFrom = 24;
const maxStarters = 4;
/** Limits starters being opened at once: until one is open, this process starts programs itself, more slowly. */
const maxOpening = 2;
/** In UTF-16 units. */
const maxRequestLength = 32 * 1024;

/**
 * The starters of this process. Linux copies the page tables of a process for each child it forks, and Node waits for
 * that: 0.5 ms a step; a small process takes 0.1. One in Python starts all programs; without Python there are several in
 * Perl, each for one program at a time. Optional: until they are open, without both, and while all in Perl are busy, Node
 * starts programs.
 */
export class Starters {
  readonly #starters: Starter[] = [];
  readonly #paths = new Map<string, string | null>();
  /** Requests waiting for a starter that prepares its next child. */
  readonly #waiting: ((starter: Starter | null) => void)[] = [];
  #asked = 0;
  readonly #python: string | null;
  /** Undefined until it is worthwhile; null without Python. */
  #shared: SharedStarter | null | undefined;

  /** `python`: the path of a Python for the starter of all programs; it may be missing. Null: use starters in Perl. */
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
  ): Promise<StartedProcess | FailedStart | null> | StartedProcess | null {
    this.#asked += 1;
    if (Math.max(this.#asked, expected) < worthwhileFrom) return null;
    const path = this.#find(program);
    if (path === null) return null;
    const request = { ...program, ...files, path };
    if (this.#shared === undefined) this.#shared = this.#openShared(program.env);
    if (this.#shared !== null && this.#shared.state !== 'gone')
      return this.#shared.state === 'ready' ? askShared(this.#shared, request, conditions) : null;
    if (conditions.awaited !== null || conditions.slot?.isFree() === false) return null;
    const ready = this.#ready();
    if (ready !== null) return ask(ready, request);
    this.#openAnother(program.env);
    if (!this.#isOneSoonReady()) return null;
    return new Promise((resolve) => this.#waiting.push((starter) => resolve(starter && ask(starter, request))));
  }

  /**
   * Requests a flush of a file before the start of any program requested later. Resolves to its duration in nanoseconds; to
   * null if it failed. Null: there is no starter that could do it.
   */
  flush(path: string): Promise<number | null> | null {
    return this.#shared?.state === 'ready' && hasNoNul([path]) ? this.#shared.flush(path) : null;
  }

  /** Ends the starters now; otherwise they end with this process. */
  close(): void {
    this.#shared?.close();
    for (const starter of this.#starters) starter.close();
  }

  #ready(): Starter | null {
    return this.#starters.find(({ state }) => state === 'ready') ?? null;
  }

  /** Waiting for a starter's next child takes less time than starting a process from Node. */
  #isOneSoonReady(): boolean {
    return this.#starters.filter(({ state }) => state === 'preparing').length > this.#waiting.length;
  }

  /**
   * Opens a starter for later programs. One that is gone is not replaced: its successor would end for the same reason.
   */
  #openAnother(env: Program['env']): void {
    const opening = this.#starters.filter(({ state }) => state === 'opening');
    if (this.#starters.length >= maxStarters || opening.length >= maxOpening) return;
    if (!hasNoNul(Object.entries(env).flat())) return;
    this.#starters.push(new Starter(env, () => this.#waiting.shift()?.(this.#ready())));
  }

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

/** Null if a text cannot be sent. */
function askShared(
  starter: SharedStarter,
  request: ProgramStart,
  conditions: StartConditions,
): Promise<StartedProcess | FailedStart | null> | null {
  const texts = starter.request(request);
  return hasNoNul(texts) ? starter.start(texts, conditions) : null;
}

/** Null if the request is too long to be read at once: a killed child must have read all of it or nothing. */
function ask(starter: Starter, request: ProgramStart): StartedProcess | null {
  const texts = starter.request(request);
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  return length <= maxRequestLength && hasNoNul(texts) ? starter.start(texts) : null;
}
