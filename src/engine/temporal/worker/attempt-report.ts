import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { failed } from '#core/run/outcome.ts';
import type { KeptFile, Outcome, Outputs } from '#core/run/run.ts';
import type { Step } from '#core/workflow.ts';
import type { LogStore, LogStream } from '#store/logs.ts';
import { WfError } from '#system/errors.ts';
import type { AttemptReport } from '../../driver/step-task.ts';
import type { EngineWarning, LogEnd } from '../protocol.ts';
import type { LogShipper } from './log-shipper.ts';

/** `worker`: its name; `directory`: that of the run on it. */
type LogsOfRun = {
  readonly runId: string;
  readonly workflow: string;
  readonly worker: string;
  readonly directory: string;
  readonly logs: LogStore;
  /** Null: this worker has no log store. */
  readonly shipper: LogShipper | null;
  readonly warn: (warning: EngineWarning) => void;
};

/** The logs of the attempts of one run on this worker: their ends go into the reports, all of them to the log store. */
export class AttemptLogs {
  readonly #own: LogsOfRun;
  /** A log is longer than its end in the report. */
  #hasCut = false;

  constructor(own: LogsOfRun) {
    this.#own = own;
    own.shipper?.enter(own.directory);
  }

  /** The address of the log store; undefined without one. */
  get store(): string | undefined {
    return this.#own.shipper?.url;
  }

  /** Whether the files are needed after the end of the run. */
  get areKept(): boolean {
    return this.#hasCut || this.#own.shipper !== null;
  }

  /** Sends the logs of an attempt from now on. */
  ship(step: Step, attempt: number): void {
    const { runId, workflow, shipper } = this.#own;
    for (const { stream, path } of this.#filesOf(step, attempt)) {
      shipper?.begin({ runId, workflow, step: step.name, attempt, stream, file: basename(path) }, path);
    }
  }

  /** Sends no more than there is now. `ends`: as the report has them. */
  endShipping(step: Step, attempt: number, ends: readonly LogEnd[]): void {
    for (const { stream, path } of this.#filesOf(step, attempt)) {
      const size = ends.find((end) => end.stream === stream)?.size;
      this.#own.shipper?.end(path, size ?? statSync(path, { throwIfNoEntry: false })?.size ?? 0);
    }
  }

  /**
   * Reads the last `most` bytes of each log of an attempt. A log that the step has replaced, or that cannot be read, costs only
   * the log.
   */
  async ends({ name: step }: Step, attempt: number, most: number): Promise<readonly LogEnd[]> {
    const { logs, shipper, warn } = this.#own;
    try {
      const ends: LogEnd[] = [];
      for (const stream of await logs.streams(step, attempt)) {
        const file = logs.file(step, attempt, stream);
        const size = await file.size();
        const parts: Uint8Array[] = [];
        for await (const part of file.read(Math.max(0, size - most), size)) parts.push(Buffer.from(part));
        ends.push({ stream, size, end: Buffer.concat(parts).toString('base64') });
        if (size > most && shipper === null) this.#warnOfCut(step, file.path ?? '');
      }
      return ends;
    } catch (error) {
      if (!(error instanceof WfError)) throw error;
      warn({ step, message: error.message });
      return [];
    }
  }

  /** After the end of the run: the log store gets what it lacks, and the files are removed when it has all. */
  async leave(): Promise<void> {
    await this.#own.shipper?.leave(this.#own.directory);
  }

  #filesOf(
    { name, logOutput }: Step,
    attempt: number,
  ): readonly { readonly stream: LogStream; readonly path: string }[] {
    const streams = logOutput === 'separate' ? (['stdout', 'stderr'] as const) : (['output'] as const);
    return streams.map((stream) => ({ stream, path: this.#own.logs.file(name, attempt, stream).path ?? '' }));
  }

  #warnOfCut(step: string, path: string): void {
    this.#hasCut = true;
    const message = `its log is cut: the whole log is ${path} on the worker "${this.#own.worker}"`;
    this.#own.warn({ step, message });
  }
}

/** What the outputs of an attempt, and the variables of a run, may have: a message of Temporal has at most 2 MB. */
const OUTPUT_BYTES = { attempt: 256 * 1024, run: 1024 * 1024 };

/** The outcome, or a failure if its outputs would make messages of the run too large: Temporal refuses them, and the run would wait. */
export function withoutLarge(outcome: Outcome, others: Outputs): Outcome {
  if (!('outputs' in outcome)) return outcome;
  const bytesOf = (outputs: Outputs) =>
    Object.entries(outputs).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value), 0);
  const own = bytesOf(outcome.outputs);
  const all = bytesOf({ ...others, ...outcome.outputs });
  if (own <= OUTPUT_BYTES.attempt && all <= OUTPUT_BYTES.run) return outcome;
  const what =
    own > OUTPUT_BYTES.attempt
      ? `its outputs have ${own} bytes: on an engine, an attempt can have ${OUTPUT_BYTES.attempt}`
      : `with its outputs, those of the run have ${all} bytes: on an engine, a run can have ${OUTPUT_BYTES.run}`;
  return failed(`${what}; pass a file by a place that all machines have`);
}

/** Whether a signal ended it, which may be that of the guard. */
export function wasKilled({ outcome }: Pick<AttemptReport, 'outcome'>): boolean {
  return 'signal' in outcome && outcome.signal === 'SIGKILL';
}

/** What an entry of the list of kept files has besides its path, in bytes. */
const KEPT_BYTES = 120;

/** Why an attempt cannot keep these files: their list is part of its report. Null if it can. */
export function keptProblem(kept: readonly KeptFile[]): string | null {
  const bytes = kept.reduce((sum, { path }) => sum + KEPT_BYTES + Buffer.byteLength(path), 0);
  if (bytes <= OUTPUT_BYTES.run) return null;
  return `it keeps ${kept.length} files: on an engine, their names and hashes can have ${OUTPUT_BYTES.run} bytes`;
}
