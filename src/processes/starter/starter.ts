import { readFileSync } from 'node:fs';
import type { ProcessIdentity } from '#core/run/run.ts';
import { signalGroup } from '../process-signals.ts';
import type { FailedStart, ProcessEnd, StartedProcess } from '../started-process.ts';
import { PipedProcess } from './piped-process.ts';
import { endOf, failureOf, type ProgramStart, parseIdentity, requestOf } from './reports.ts';
import { starterProgram } from './starter-program.ts';

/** State of a starter; `next`: the child that will become the next program. */
type StarterState =
  | { readonly type: 'opening' }
  | { readonly type: 'ready'; readonly next: ProcessIdentity }
  | { readonly type: 'busy'; readonly program: ProcessIdentity; readonly tell: (end: ProcessEnd | FailedStart) => void }
  | { readonly type: 'preparing' }
  | { readonly type: 'gone' };

/**
 * A small process that starts programs on behalf of this one, one at a time:
 *
 *   opening -> ready -> busy -> preparing -> ready ...      any of them -> gone
 *
 * It keeps this process alive only while it is busy or preparing, and ends with it.
 */
export class Starter {
  readonly #process: PipedProcess;
  readonly #env: Readonly<Record<string, string>>;
  readonly #changed: () => void;
  readonly #secret = secretWord();
  #state: StarterState = { type: 'opening' };

  /**
   * `env`, without a NUL, is the usual environment of programs: each request sends only differences. `changed`: called
   * when the starter becomes ready or is gone.
   */
  constructor(env: Readonly<Record<string, string>>, changed: () => void) {
    this.#env = env;
    this.#changed = changed;
    // Variables such as PERL5OPT are for the programs, not for the starter.
    const ownEnv = { PATH: env['PATH'] ?? '', PERL_BADLANG: '0' };
    const listener = { take: this.#take, lost: this.#lost };
    this.#process = new PipedProcess(['perl', '-e', starterProgram], ownEnv, listener);
    this.#send(
      this.#process.pid ?? 0,
      Object.entries(env).map(([name, value]) => `${name}=${value}`),
    );
  }

  get state(): StarterState['type'] {
    return this.#state.type;
  }

  /** Process number of the starter; undefined if it could not be started. */
  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Ends the starter; a program that it has started runs on. */
  close(): void {
    this.#process.close();
  }

  /** The texts of a request. */
  request(program: ProgramStart): readonly string[] {
    return requestOf(program, this.#env);
  }

  /** The starter must be ready, and no text may contain a NUL. */
  start(request: readonly string[]): StartedProcess {
    if (this.#state.type !== 'ready') throw new Error(`cannot start a program: the starter is ${this.#state.type}`);
    const identity = this.#state.next;
    const ended = new Promise<ProcessEnd | FailedStart>((tell) => {
      this.#state = { type: 'busy', program: identity, tell };
    });
    this.#process.hold(true);
    this.#send(identity.pid, request);
    return { identity, ended, abandon: () => this.#process.hold(false) };
  }

  #send(pid: number, texts: readonly string[]): void {
    const text = `${texts.join('\0')}\0`;
    this.#process.send(`${this.#secret} ${pid} ${Buffer.byteLength(text)}\n${text}`);
  }

  readonly #take = (line: string): void => {
    const space = line.indexOf(' ');
    const word = line.slice(0, space);
    const rest = line.slice(space + 1);
    if (word === 'ready') {
      this.#state = { type: 'ready', next: parseIdentity(rest) };
      this.#process.hold(false);
      this.#changed();
    } else if (word === 'failed') {
      this.#end(failureOf(Number(rest)));
    } else {
      this.#end(endOf(Number(rest)));
    }
  };

  /** A program that could not start is reported as failed first, then ends as well. */
  #end(end: ProcessEnd | FailedStart): void {
    if (this.#state.type !== 'busy') return;
    const { tell } = this.#state;
    this.#state = { type: 'preparing' };
    tell(end);
  }

  /** The end of the program could no longer be observed, so kill it. */
  readonly #lost = (): void => {
    if (this.#state.type === 'busy') signalGroup(this.#state.program.pid, 'SIGKILL');
    this.#end({ error: new Error('the process that started it was ended from outside') });
    this.#state = { type: 'gone' };
    this.#process.hold(false);
    this.#changed();
  };
}

/** Read from the system's generator if the file exists: loading `node:crypto` takes longer than starting a step. */
function secretWord(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/uuid', 'latin1').trim();
  } catch {
    return process.getBuiltinModule('node:crypto').randomUUID();
  }
}
