import type { ChildProcess, spawn } from 'node:child_process';
import { lookupIn } from '#core/words/interpolate.ts';
import { AttemptTree } from './attempt-tree.ts';
import { EndSignal } from './end-signal.ts';
import { identityFor } from './process-identity.ts';
import { explainSpawnError, type Program } from './started-program.ts';
import { describeEnd, shellArgv, shellWords, spawnDetached } from './subprocess.ts';

/** Options of a captured command. */
export type CaptureOptions = {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly shell: string;
  readonly params?: readonly string[];
  /** When aborted, the command and everything it has started are ended. */
  readonly signal?: AbortSignal;
  /** A file descriptor for standard error; if absent, its last line becomes part of the failure message. */
  readonly stderr?: number;
};

/** Output and result of a command. */
export type CaptureResult = {
  readonly ok: boolean;
  /** The command ran to its end; false if it could not start, was stopped, or printed too much. */
  readonly ended: boolean;
  /** Null if it was killed by a signal, or did not run to its end. */
  readonly exitCode: number | null;
  /** Standard output without trailing line ends. */
  readonly stdout: string;
  /** Why the command is not `ok`, else empty. */
  readonly message: string;
};

/** Largest captured value in bytes: it is held in memory until the end of the run. */
const MAX_OUTPUT_BYTES = 1024 * 1024;
/** Time between the stop and the kill of a command whose output is no longer needed. */
const GRACE_MS = 2000;

/**
 * Runs a shell command and captures its output until every writer has closed it, as command substitution does. For
 * backticks and conditions, which are short; the output of steps never goes through memory.
 */
export async function capture(command: string, options: CaptureOptions): Promise<CaptureResult> {
  const { env, cwd, shell, params = [], signal, stderr = 'pipe' } = options;
  const words = shellWords(shell, lookupIn(env));
  if (words === null) return failure(`shell ${JSON.stringify(shell)} is not a program with its options`);
  if (signal?.aborted) return failure('stopped');
  const captured = new Captured({ argv: shellArgv(words, command, params), cwd, env }, stderr);
  const stop = () => captured.end('stopped');
  signal?.addEventListener('abort', stop, { once: true });
  try {
    return await captured.result();
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

/** Set every option: zx would read the others from `ZX_` environment variables. */
const zxSettings = {
  shell: true,
  prefix: '',
  postfix: '',
  quote: String,
  nothrow: true,
  quiet: true,
  verbose: false,
  preferLocal: false,
  timeout: 0,
} as const;

/** A program whose output is captured until all writers have closed it, or until it has to be ended. */
class Captured {
  readonly #program: Program;
  readonly #stderr: 'pipe' | number;
  /** Raw chunks: zx's own text would break characters at chunk borders. */
  readonly #output = { stdout: [] as Buffer[], stderr: [] as Buffer[], stdall: [] as Buffer[] };
  readonly #stop = new EndSignal();
  readonly #kill = new EndSignal();
  #child: ChildProcess | null = null;
  #grace: NodeJS.Timeout | undefined;
  #problem: string | null = null;
  #settled: Promise<void> = Promise.resolve();
  #abandon = () => {};

  constructor(program: Program, stderr: 'pipe' | number) {
    this.#program = program;
    this.#stderr = stderr;
  }

  async result(): Promise<CaptureResult> {
    const { $ } = await import('zx/core');
    const { env, cwd, argv } = this.#program;
    const start = (() => this.#spawn()) as unknown as typeof spawn;
    const run = $({ ...zxSettings, env, cwd, store: this.#output, spawn: start });
    const abandoned = new Promise<null>((resolve) => {
      this.#abandon = () => resolve(null);
    });
    const text = [argv.join(' ')];
    const end = await Promise.race([run(Object.assign(text, { raw: text })), abandoned]);
    await this.#settled;
    clearTimeout(this.#grace);
    const stdout = Buffer.concat(this.#output.stdout).toString().replace(/\n+$/, '');
    if (this.#problem !== null || end === null) return failure(this.#problem ?? '', stdout);
    if (end.cause !== null) return failure(explainSpawnError(end.cause, this.#program).message);
    if (end.ok) return { ok: true, ended: true, exitCode: 0, stdout, message: '' };
    const message = describeEnd({ code: end.exitCode, signal: end.signal }) + this.#lastLine();
    return { ok: false, ended: true, exitCode: end.signal === null ? end.exitCode : null, stdout, message };
  }

  /** Asks the program to end, then kills it with everything it has started. Further output is discarded. */
  end(problem: string): void {
    if (this.#problem !== null) return;
    this.#problem = problem;
    this.#grace = setTimeout(() => this.#kill.abort('stop'), GRACE_MS);
    this.#stop.abort('stop');
    this.#child?.stdout?.destroy();
    this.#child?.stderr?.destroy();
  }

  #spawn(): ChildProcess {
    const child = spawnDetached(this.#program, ['ignore', 'pipe', this.#stderr]);
    this.#child = child;
    if (child.pid !== undefined) this.#follow(child, child.pid);
    return child;
  }

  #follow(child: ChildProcess, pid: number): void {
    const leader = identityFor(pid);
    const ends = { signal: this.#stop, kill: this.#kill };
    const tree = new AttemptTree(leader, { ...ends, stopSignal: 'SIGTERM', marks: null });
    void tree.immortal.then(this.#abandon);
    child.once('exit', () => {
      this.#settled = tree.settled();
    });
    let size = 0;
    child.stdout?.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_OUTPUT_BYTES) this.end(`it printed more than ${MAX_OUTPUT_BYTES} bytes`);
    });
  }

  #lastLine(): string {
    const line = Buffer.concat(this.#output.stderr).toString().trimEnd().split('\n').at(-1) ?? '';
    return line === '' ? '' : `: ${line}`;
  }
}

function failure(message: string, stdout = ''): CaptureResult {
  return { ok: false, ended: false, exitCode: null, stdout, message };
}
