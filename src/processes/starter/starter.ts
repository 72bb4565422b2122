import { delimiter } from 'node:path';
import type { ProcessIdentity } from '#core/run/run.ts';
import type { ProgramSlot } from '#executors/executor.ts';
import { signalGroup } from '../attempt-tree.ts';
import type { EndSignal } from '../end-signal.ts';
import type { FailedStart, OutputFiles, ProcessEnd, Program, StartedProcess } from '../started-program.ts';
import { sharedStarterProgram } from './shared-starter-program.ts';
import {
  canOpen,
  endOf,
  failureOf,
  hasNoNul,
  isProgram,
  type ProgramStart,
  PythonProcess,
  parseReport,
  requestOf,
  startedProcess,
  systemPython,
} from './starter-process.ts';

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

/** A requested program: called when it runs or could not be started, with null if the starter refused. */
type Asked = (started: StartedProcess | FailedStart | null) => void;

/** What a requested program waits for. */
export type StartConditions = {
  /** The file that has to be flushed before the program starts, by a flush that was requested before; null: none. */
  readonly awaited: string | null;
  /** Null: any number of programs may run. */
  readonly slot: ProgramSlot | null;
  /** Withdraws the request if the program has not started. */
  readonly signal: EndSignal;
};

const lost: FailedStart = { error: new Error('the process that started it was ended from outside') };

/**
 * A small process that starts programs on behalf of this one, any number at once. It keeps this process alive only while
 * it has something to report, and ends with it.
 */
export class SharedStarter {
  readonly #python: PythonProcess;
  readonly #env: Readonly<Record<string, string>>;
  /** By the numbers of their requests. */
  readonly #asked = new Map<number, Asked>();
  #requests = 0;
  /** In the order of the requests to flush a file. */
  readonly #flushing: ((nanoseconds: number | null) => void)[] = [];
  readonly #running = new Map<number, (end: ProcessEnd | FailedStart) => void>();

  /**
   * `python`: its path. `env`, without a NUL, is the usual environment of programs: each request sends only
   * differences.
   */
  constructor(python: string, env: Readonly<Record<string, string>>) {
    this.#env = env;
    this.#python = new PythonProcess(python, sharedStarterProgram, env, { take: this.#take, lost: this.#lost });
  }

  get state(): 'opening' | 'ready' | 'gone' {
    return this.#python.state;
  }

  /** Process number of the starter; undefined if it could not be started. */
  get pid(): number | undefined {
    return this.#python.pid;
  }

  /** Ends the starter; programs that it has started run on. */
  close(): void {
    this.#python.close();
  }

  /** The texts of a request. */
  request(program: ProgramStart): readonly string[] {
    return requestOf(program, this.#env);
  }

  /**
   * Starts a program. Resolves to null if its file is not flushed or the request was withdrawn. The starter must be ready,
   * and no text may contain a NUL.
   */
  start(
    request: readonly string[],
    { awaited, slot, signal }: StartConditions,
  ): Promise<StartedProcess | FailedStart | null> {
    if (this.state !== 'ready') throw new Error(`cannot start a program: the starter is ${this.state}`);
    this.#python.hold();
    this.#requests += 1;
    const number = this.#requests;
    return new Promise((asked) => {
      if (slot === null) {
        this.#asked.set(number, asked);
        this.#python.send([`${number}`, awaited ?? '', '', '', ...request]);
        return;
      }
      const { group, limit, queued } = slot;
      queued();
      this.#python.send([`${number}`, awaited ?? '', `${group}`, `${limit}`, ...request]);
      const forget = signal.onAbort(() => this.#python.send([`${group}`, `${number}`]));
      this.#asked.set(number, (started) => {
        forget();
        asked(started);
      });
    });
  }

  /**
   * Flushes a file before it starts any program that is requested later. Resolves to how long that took, in nanoseconds; to
   * null if it failed. The starter must be ready, and the path may not contain a NUL.
   */
  flush(path: string): Promise<number | null> {
    this.#python.hold();
    return new Promise((flushed) => {
      this.#flushing.push(flushed);
      this.#python.send([path]);
    });
  }

  readonly #take = (line: string): void => {
    const { word, first, second, third } = parseReport(line);
    switch (word) {
      case 'started':
        this.#answer(first, this.#started(startedProcess(second, third)));
        break;
      case 'failed':
      case 'refused':
        this.#python.release();
        this.#answer(first, word === 'failed' ? failureOf(second) : null);
        break;
      case 'ended':
        this.#end(first, endOf(second));
        break;
      case 'flushed':
        this.#python.release();
        this.#flushing.shift()?.(first === 0 ? second : null);
        break;
    }
  };

  #answer(request: number, started: StartedProcess | FailedStart | null): void {
    const asked = this.#asked.get(request);
    this.#asked.delete(request);
    asked?.(started);
  }

  #started(identity: ProcessIdentity): StartedProcess {
    let isHeld = true;
    const release = () => {
      if (isHeld) this.#python.release();
      isHeld = false;
    };
    const ended = new Promise<ProcessEnd | FailedStart>((tell) => {
      this.#running.set(identity.pid, (end) => {
        release();
        tell(end);
      });
    });
    const abandon = () => {
      release();
      this.#python.send(['', `${identity.pid}`]);
    };
    return { identity, ended, abandon };
  }

  #end(pid: number, end: ProcessEnd | FailedStart): void {
    const tell = this.#running.get(pid);
    this.#running.delete(pid);
    tell?.(end);
  }

  /** The ends of the programs could no longer be observed, so kill them. */
  readonly #lost = (): void => {
    for (const pid of [...this.#running.keys()]) {
      signalGroup(pid, 'SIGKILL');
      this.#end(pid, lost);
    }
    for (const request of [...this.#asked.keys()]) {
      this.#python.release();
      this.#answer(request, lost);
    }
    for (const flushed of this.#flushing.splice(0)) {
      this.#python.release();
      flushed(null);
    }
  };
}
