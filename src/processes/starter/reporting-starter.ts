import type { ProcessIdentity } from '#core/run/run.ts';
import { messageOf, systemReason } from '#system/errors.ts';
import { identityFor, isAlive } from '../process-identity.ts';
import type { ReportingProcess } from '../reporting-process.ts';
import type { Program } from '../started-program.ts';
import { describeEnd } from '../subprocess.ts';
import { reportingStarterProgram } from './reporting-starter-program.ts';
import { canOpen, endOf, failureOf, hasNoNul, PythonProcess, systemPython } from './starter-process.ts';

/** A requested process that has not ended. */
type Asked = {
  readonly program: string;
  readonly identity: ProcessIdentity | null;
  readonly end: (words: string) => void;
};

/** The pause between checks of a process whose end the starter can no longer report. */
const LOOK_AGAIN_MS = 100;

/**
 * A small process that starts reporting processes on behalf of a large one. Node copies the page tables of its process for
 * each child, and blocks the event loop until the child has begun its program: up to 0.4 s on a busy machine. What the starter
 * has started survives it.
 */
export class ReportingStarter {
  readonly #env: Program['env'];
  readonly #path: string | null;
  /** Undefined until the first start; null without Python. */
  #python: PythonProcess | null | undefined;
  /** By request. */
  readonly #asked = new Map<string, Asked>();
  /** By request: its report is awaited, maybe longer than its end. */
  readonly #awaited = new Map<string, (line: string | null) => void>();
  #requests = 0;

  /** `env`: the environment of all processes. `python`: the path of a Python, which may be missing. */
  constructor(env: Program['env'], python: string | null = systemPython) {
    this.#env = env;
    this.#path = python;
  }

  get pid(): number | undefined {
    return this.#python?.pid;
  }

  close(): void {
    this.#python?.close();
  }

  /**
   * Starts a program, named by its path, with its output appended to a file. Null if the starter is not ready: start it
   * otherwise.
   */
  start({ argv, cwd }: Program, log: string): ReportingProcess | null {
    if (this.#python === undefined) this.#python = this.#open();
    this.#requests += 1;
    const request = String(this.#requests);
    const [program = ''] = argv;
    const texts = [request, cwd, log, program, ...argv];
    if (this.#python?.state !== 'ready' || !hasNoNul(texts)) return null;
    const unref = this.#python.hold();
    const report = new Promise<string | null>((reported) => this.#awaited.set(request, reported));
    const ended = new Promise<string>((end) => this.#asked.set(request, { program, identity: null, end }));
    this.#python.send(texts);
    return { report, ended: ended.finally(unref), unref };
  }

  #open(): PythonProcess | null {
    if (this.#path === null || !canOpen(this.#path, this.#env)) return null;
    const listener = { take: this.#take, lost: this.#lost };
    return new PythonProcess(this.#path, reportingStarterProgram, this.#env, listener);
  }

  readonly #take = (line: string): void => {
    const [word, request = '', value = ''] = line.split(' ');
    switch (word) {
      case 'started':
        this.#started(request, Number(value));
        break;
      case 'said':
        this.#reported(request, Buffer.from(value, 'hex').toString());
        break;
      case 'silent':
        this.#reported(request, null);
        break;
      case 'failed':
        this.#reported(request, null);
        this.#end(request, this.#failure(request, messageOf(failureOf(Number(value)).error)));
        break;
      case 'ended':
        this.#end(request, describeEnd(endOf(Number(value))));
        break;
    }
  };

  #started(request: string, pid: number): void {
    const asked = this.#asked.get(request);
    if (asked !== undefined) this.#asked.set(request, { ...asked, identity: identityFor(pid) });
  }

  #failure(request: string, code: string): string {
    const missing = 'it, its directory or its log does not exist';
    const why = systemReason(code) ?? (code === 'ENOENT' ? missing : code);
    return `"${this.#asked.get(request)?.program}" could not be started: ${why}`;
  }

  #reported(request: string, line: string | null): void {
    this.#awaited.get(request)?.(line);
    this.#awaited.delete(request);
  }

  #end(request: string, words: string): void {
    this.#asked.get(request)?.end(words);
    this.#asked.delete(request);
  }

  /** The pipes of the processes are lost, too: what they have not reported counts as missing. */
  readonly #lost = (): void => {
    for (const request of this.#awaited.keys()) this.#reported(request, null);
    for (const [request, { identity }] of this.#asked) this.#endLater(request, identity);
  };

  #endLater(request: string, identity: ProcessIdentity | null): void {
    if (identity !== null && isAlive(identity))
      setTimeout(() => this.#endLater(request, identity), LOOK_AGAIN_MS).unref();
    else this.#end(request, 'the process that started it was ended from outside');
  }
}
