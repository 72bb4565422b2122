import { accessSync, constants, statSync } from 'node:fs';
import { delimiter } from 'node:path';
import type { Program } from '../spawn-problem.ts';
import type { OutputFiles, StartedProcess } from '../started-process.ts';
import { Starter, type StartRequest } from './starter.ts';

/** Fewer programs are over before starters would pay for their own start. */
const worthwhileFrom = 24;
const mostStarters = 4;
/** Until one is open this process starts programs itself, which is slower, and so is it to open many at once. */
const mostOpening = 2;
/** In UTF-16 units. */
const longestRequest = 32 * 1024;

/**
 * The starters of this process. Linux copies the page tables of a process for each child that it forks, and Node waits for
 * that: 0.5 ms a step, of which a small process that forks ahead takes 0.1. They are not needed: without Perl, or while all of
 * them are busy, programs are started by Node.
 */
export class Starters {
  readonly #starters: Starter[] = [];
  readonly #paths = new Map<string, string | null>();
  /** Requests for starters that prepare their next child; each waits for one of them. */
  readonly #waiting: ((starter: Starter | null) => void)[] = [];
  #asked = 0;

  /**
   * `expected`: how many programs will be asked for, as far as is known. Null: it has to be started in another way, which
   * also tells best what is wrong with it.
   */
  start(
    program: Program,
    files: OutputFiles,
    expected: number,
  ): Promise<StartedProcess | null> | StartedProcess | null {
    this.#asked += 1;
    if (Math.max(this.#asked, expected) < worthwhileFrom) return null;
    const path = this.#find(program);
    if (path === null) return null;
    const request = { ...program, ...files, path };
    const ready = this.#ready();
    if (ready !== null) return ask(ready, request);
    this.#openAnother(program.env);
    if (!this.#isOneSoonReady()) return null;
    return new Promise((resolve) => this.#waiting.push((starter) => resolve(starter && ask(starter, request))));
  }

  /** They go with this process; this ends them before. */
  close(): void {
    for (const starter of this.#starters) starter.close();
  }

  #ready(): Starter | null {
    return this.#starters.find(({ state }) => state === 'ready') ?? null;
  }

  /** To make a child ready takes less time than Node needs to start one. */
  #isOneSoonReady(): boolean {
    return this.#starters.filter(({ state }) => state === 'preparing').length > this.#waiting.length;
  }

  /** For the programs to come. One that is gone is not replaced: what has ended it would end the next. */
  #openAnother(env: Program['env']): void {
    const opening = this.#starters.filter(({ state }) => state === 'opening');
    if (this.#starters.length >= mostStarters || opening.length >= mostOpening) return;
    if (!Object.entries(env).flat().every(isPlain)) return;
    this.#starters.push(new Starter(env, () => this.#waiting.shift()?.(this.#ready())));
  }

  /** The file that the name of a program stands for, looked for once; null where that is not certain. */
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

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Null for what is too long to be read at once: a child that is killed has to have read all of it or nothing. */
function ask(starter: Starter, request: StartRequest): StartedProcess | null {
  const texts = starter.request(request);
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  return length <= longestRequest && texts.every(isPlain) ? starter.start(texts) : null;
}

function isPlain(text: string): boolean {
  return !text.includes('\0');
}
