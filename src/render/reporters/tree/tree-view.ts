import type { SettledStatus, StoredEvent } from '../../../core/run/run.ts';
import { handlerKind, type Workflow } from '../../../core/workflow.ts';
import { stripControls } from '../../text/sanitize.ts';

/** A step at which an attempt is being made. */
export type ActiveStep = {
  readonly name: string;
  readonly attempt: number;
  readonly startedAt: number;
  readonly lastLine: LastLine;
};

/** A step between two attempts: `attempt` is the next one. */
export type WaitingStep = {
  readonly name: string;
  readonly attempt: number;
  readonly until: number;
  readonly why: 'retry' | 'repeat';
  readonly message: string;
};

/** What the tree shows of a run: the fold of its events, kept in the order in which things began. */
export class TreeView {
  readonly active = new Map<string, ActiveStep>();
  readonly waiting = new Map<string, WaitingStep>();
  /** Steps that were not started yet, in the order of the file. */
  readonly pending: Set<string>;
  /** Names of the steps and handlers to which nothing more happens. */
  readonly settled = new Set<string>();
  failed = 0;
  /** How many steps there are, and how many of them are settled; handlers are not counted. */
  readonly total: number;
  done = 0;
  startedAt: number | null = null;
  isStopping = false;

  constructor(workflow: Workflow) {
    this.pending = new Set(workflow.steps.map((step) => step.name));
    this.total = this.pending.size;
  }

  apply(event: StoredEvent): void {
    switch (event.type) {
      case 'run.created':
      case 'run.started':
        this.startedAt = event.at;
        break;
      case 'step.scheduled':
      case 'step.started':
        this.#begin(event.step, event.attempt, event.at);
        break;
      case 'step.waiting': {
        const { step: name, until, why, outcome } = event;
        const message = outcome.status === 'succeeded' ? '' : outcome.message;
        this.active.delete(name);
        this.waiting.set(name, { name, attempt: event.attempt + 1, until, why, message });
        break;
      }
      case 'step.restored':
      case 'step.finished':
      case 'step.marked':
        this.#settle(event.step, event.status);
        break;
      case 'run.canceling':
        this.isStopping = true;
        break;
      case 'run.queued':
      case 'run.owned':
      case 'run.prepared':
      case 'run.delayed':
      case 'run.handling':
      case 'run.warned':
      case 'run.finished':
      case 'step.ready':
        break;
    }
  }

  #begin(name: string, attempt: number, startedAt: number): void {
    this.pending.delete(name);
    this.waiting.delete(name);
    const lastLine = this.active.get(name)?.lastLine ?? createLastLine();
    this.active.set(name, { name, attempt, startedAt, lastLine });
  }

  #settle(name: string, status: SettledStatus): void {
    this.pending.delete(name);
    this.waiting.delete(name);
    this.active.delete(name);
    if (!this.settled.has(name) && handlerKind(name) === null) this.done++;
    this.settled.add(name);
    if (status === 'failed') this.failed++;
  }
}

/** The end of a step's output, to show what it is at. */
type LastLine = {
  readonly push: (bytes: Uint8Array) => void;
  /** The last line with something in it, without colours; empty before there is one. */
  readonly text: () => string;
  /** The same, but empty unless that line is still being written, as a progress bar is. */
  readonly unfinished: () => string;
};

const keptBytes = 1024;
const newline = 10;

/** Keeps a copy of the last kilobyte and reads it only when asked, so that a torrent of output costs next to nothing. */
function createLastLine(): LastLine {
  let kept = Buffer.alloc(0);
  return {
    push: (bytes) => {
      kept = Buffer.concat([kept.subarray(-Math.max(1, keptBytes - bytes.length)), bytes.subarray(-keptBytes)]);
    },
    text: () => lastText(kept.toString('utf8')),
    unfinished: () => (kept.at(-1) === newline ? '' : lastText(kept.toString('utf8'))),
  };
}

function lastText(text: string): string {
  const lines = text.split(/[\r\n]+/).map((line) => stripControls(line).trim());
  // Cutting at a byte can leave the rest of a character at the start.
  return (lines.findLast((line) => line !== '') ?? '').replace(/^\ufffd+/, '');
}
