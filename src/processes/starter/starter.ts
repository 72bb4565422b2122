import { delimiter } from 'node:path';
import type { ProcessIdentity } from '#core/run/run.ts';
import type { ProgramSlot } from '#executors/executor.ts';
import { signalGroup } from '../attempt-tree.ts';
import type { EndSignal } from '../end-signal.ts';
import { identityOf, processScope } from '../process-identity.ts';
import type { FailedStart, OutputFiles, ProcessEnd, Program, StartedProcess } from '../started-program.ts';
import { sharedStarterProgram } from './shared-starter-program.ts';
import {
  canOpen,
  changes,
  endOf,
  failureOf,
  hasNoNul,
  isProgram,
  PythonProcess,
  systemPython,
} from './starter-process.ts';

/** With fewer programs, a starter does not repay the cost of starting it. */
const WORTHWHILE_FROM = 24;

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

  /** `expected`: number of programs to come, if known. Null: start it otherwise, which also reports errors best. */
  start(
    program: Program,
    files: OutputFiles,
    { expected, ...conditions }: StartConditions & { readonly expected: number },
  ): Promise<StartedProcess | FailedStart | null> | null {
    this.#asked += 1;
    if (Math.max(this.#asked, expected) < WORTHWHILE_FROM) return null;
    const path = this.#find(program);
    if (path === null) return null;
    if (this.#shared === undefined) this.#shared = this.#openShared(program.env);
    if (this.#shared?.state !== 'ready') return null;
    const texts = this.#shared.request({ ...program, ...files, path });
    return hasNoNul(texts) ? this.#shared.start(texts, conditions) : null;
  }

  /** Flushes a file, an absolute path; see `SharedStarter.flush`. Null: there is no starter. */
  flush(path: string): Promise<number | null> | null {
    return this.#shared?.state === 'ready' ? this.#shared.flush(path) : null;
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
    const directories = path.split(delimiter);
    const isCertain = directories.every((directory) => directory.startsWith('/'));
    const found = (isCertain && directories.map((directory) => `${directory}/${name}`).find(isProgram)) || null;
    this.#paths.set(key, found);
    return found;
  }
}

/** What a requested program waits for. */
export type StartConditions = {
  /** The file of a flush that was requested before, which has to succeed; null: none. */
  readonly awaited: string | null;
  /** Null: any number of programs may run. */
  readonly slot: ProgramSlot | null;
  /** Withdraws the request if the program has not started. */
  readonly signal: EndSignal;
};

/** A requested program that does not run yet. `answer` gets null if the starter refused. */
type Asked = {
  readonly release: () => void;
  readonly answer: (started: StartedProcess | FailedStart | null) => void;
};

const lost: FailedStart = { error: new Error('the process that started it was ended from outside') };

/**
 * Starts programs in a small process, which ends with this one and keeps it alive only while it has something to
 * report.
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

  /** `env`, without a NUL, is the usual environment of programs: each request sends only differences. */
  constructor(python: string, env: Readonly<Record<string, string>>) {
    this.#env = env;
    this.#python = new PythonProcess(python, sharedStarterProgram, env, { take: this.#take, lost: this.#lost });
  }

  get state(): 'opening' | 'ready' | 'gone' {
    return this.#python.state;
  }

  get pid(): number | undefined {
    return this.#python.pid;
  }

  /** Ends the starter; programs that it has started run on. */
  close(): void {
    this.#python.close();
  }

  /** The texts of a request for a program, given its path. */
  request({ path, argv, cwd, env, ...files }: Program & OutputFiles & { readonly path: string }): readonly string[] {
    const { stdoutPath, stderrPath } = files;
    return [cwd, stdoutPath, stderrPath, path, String(argv.length), ...argv, ...changes(this.#env, env)];
  }

  /**
   * Starts a program; null if its file could not be flushed or the request was withdrawn. Only for a ready starter and texts
   * without a NUL.
   */
  start(
    request: readonly string[],
    { awaited, slot, signal }: StartConditions,
  ): Promise<StartedProcess | FailedStart | null> {
    if (this.state !== 'ready') throw new Error(`cannot start a program: the starter is ${this.state}`);
    const release = this.#python.hold();
    this.#requests += 1;
    const number = this.#requests;
    return new Promise((answer) => {
      if (slot === null) {
        this.#asked.set(number, { release, answer });
        this.#python.send([`${number}`, awaited ?? '', '', '', ...request]);
        return;
      }
      const { group, limit, queued } = slot;
      queued();
      this.#python.send([`${number}`, awaited ?? '', `${group}`, `${limit}`, ...request]);
      const forget = signal.onAbort(() => this.#python.send([`${group}`, `${number}`]));
      const answerOnce: Asked['answer'] = (started) => {
        forget();
        answer(started);
      };
      this.#asked.set(number, { release, answer: answerOnce });
    });
  }

  /** Flushes a file before it takes later requests. Resolves to the duration in nanoseconds; to null if that failed. */
  flush(path: string): Promise<number | null> {
    const release = this.#python.hold();
    return new Promise((flushed) => {
      this.#flushing.push((nanoseconds) => {
        release();
        flushed(nanoseconds);
      });
      this.#python.send([path]);
    });
  }

  /** Takes a report, a word and up to three numbers; the starter prints nothing else. */
  readonly #take = (line: string): void => {
    const [word, ...numbers] = line.split(' ');
    const [first = 0, second = 0, third = 0] = numbers.map(Number);
    switch (word) {
      case 'started':
        this.#start(first, identityOf(second, processScope().hasOwnProc && third >= 0 ? third : null));
        break;
      case 'failed':
        this.#refuse(first, failureOf(second));
        break;
      case 'refused':
        this.#refuse(first, null);
        break;
      case 'ended':
        this.#end(first, endOf(second));
        break;
      case 'flushed':
        this.#flushing.shift()?.(first < 0 ? null : first);
        break;
    }
  };

  #start(request: number, identity: ProcessIdentity): void {
    const { release, answer } = this.#asked.get(request) ?? { release: () => {}, answer: () => {} };
    this.#asked.delete(request);
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
    answer({ identity, ended, abandon });
  }

  #refuse(request: number, reason: FailedStart | null): void {
    const asked = this.#asked.get(request);
    this.#asked.delete(request);
    asked?.release();
    asked?.answer(reason);
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
    for (const request of [...this.#asked.keys()]) this.#refuse(request, lost);
    for (const flushed of this.#flushing.splice(0)) flushed(null);
  };
}
