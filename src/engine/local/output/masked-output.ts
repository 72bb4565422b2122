import type { Secrets } from '../../../core/secrets/secrets.ts';
import type { AttemptLog } from '../../../executors/executor.ts';
import { type AttemptOutput, bytesOf } from './attempt-output.ts';
import { MaskedStream, type Pipe } from './masked-stream.ts';
import { gatherOutput } from './output-text.ts';

/** Opens two named pipes in a directory. Rejects if that is impossible. */
export type OpenPipes = (directory: string) => Promise<readonly [Pipe, Pipe]>;

export type MaskedOutputOptions = {
  /** Null if there is no process: only `write` is used. */
  readonly pipes: readonly [Pipe, Pipe] | null;
  /**
   * Whether standard output is also captured as a value. If that value is secret, the log shows nothing of either
   * stream.
   */
  readonly output: 'shown' | 'secret' | null;
  /** Called once per log file that can no longer be written. */
  readonly onFailure: (error: unknown) => void;
};

/** The masked outputs of one run; some outlive their attempts. */
export class MaskedOutputs {
  readonly #secrets: Secrets;
  readonly #open = new Set<MaskedStream>();

  constructor(secrets: Secrets) {
    this.#secrets = secrets;
  }

  /** Takes over the log. */
  start(log: AttemptLog, { pipes, output, onFailure }: MaskedOutputOptions): AttemptOutput {
    const gathered = gatherOutput();
    // The secret value is known only at the end, and programs repeat what they print: `set -x`, `tee /dev/stderr`,
    // `curl -v`.
    const common = { onFailure, isWithheld: output === 'secret' };
    const keep = output === null ? null : gathered.add;
    const stdout = this.#stream({ ...common, logFd: log.stdoutFd, pipe: pipes?.[0] ?? null, keep });
    const stderr = this.#stream({ ...common, logFd: log.stderrFd, pipe: pipes?.[1] ?? null, keep: null });
    const ends = pipes && { isDirect: false, stdoutFd: pipes[0].writeFd, stderrFd: pipes[1].writeFd };
    return {
      log: { ...log, ...ends },
      write: (stream, chunk) => (stream === 'stdout' ? stdout : stderr).write(bytesOf(chunk)),
      settle: () => {
        stdout.settle();
        stderr.settle();
      },
      text: gathered.text,
      close: () => {
        stdout.close();
        stderr.close();
      },
    };
  }

  /** Ends what is still open, at the end of the run. */
  close(): void {
    for (const stream of [...this.#open]) stream.end();
  }

  #stream(options: Omit<ConstructorParameters<typeof MaskedStream>[0], 'masking'>): MaskedStream {
    const stream: MaskedStream = new MaskedStream({ ...options, masking: this.#secrets.stream() }, () => {
      this.#open.delete(stream);
    });
    this.#open.add(stream);
    return stream;
  }
}
