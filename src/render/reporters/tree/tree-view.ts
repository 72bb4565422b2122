import { staleSummary } from '#core/fingerprint.ts';
import type { ContainerRef, SettledStatus, StoredEvent, WaitingFor } from '#core/run/run.ts';
import { handlerKind, type Workflow } from '#core/workflow.ts';
import { type Answered, blockedText } from '../../text/run-text.ts';
import { stripControls } from '../../text/sanitize.ts';

/** A step with a running attempt. */
export type ActiveStep = {
  readonly name: string;
  readonly attempt: number;
  readonly startedAt: number;
  readonly isReady: boolean;
  readonly container: ContainerRef | null;
  readonly lastLine: ReturnType<typeof createLastLine>;
};

/** A step between two attempts: `attempt` is the next one. Of a step that waits for approval, `message` is the prompt. */
export type WaitingStep = {
  readonly name: string;
  readonly attempt: number;
  readonly until: number | null;
  readonly why: WaitingFor;
  readonly message: string;
  readonly answer?: Answered;
};

/** The state of the tree: a fold of events, in the order of the starts. */
export class TreeView {
  readonly active = new Map<string, ActiveStep>();
  readonly waiting = new Map<string, WaitingStep>();
  readonly pending: Set<string>;
  readonly settled = new Set<string>();
  /** The steps that are late, or were. */
  readonly late = new Set<string>();
  /** Why steps with `sources` run. */
  readonly reasons = new Map<string, string>();
  isLate = false;
  failed = 0;
  /** The counts of all steps and of settled steps, without handlers. */
  readonly total: number;
  done = 0;
  startedAt: number | null = null;
  isStopping = false;
  /** What the run waits for before it starts; null: nothing. */
  blocked: string | null = null;

  readonly #limit: number;

  constructor(workflow: Workflow) {
    this.#limit = workflow.maxActiveSteps;
    this.pending = new Set(workflow.steps.map((step) => step.name));
    this.total = this.pending.size;
  }

  apply(event: StoredEvent): void {
    switch (event.type) {
      case 'run.created':
      case 'run.started':
        this.startedAt = event.at;
        this.blocked = null;
        break;
      case 'step.scheduled':
        if (!this.#isFull) this.#begin(event.step, event.attempt, event.at);
        break;
      case 'step.started':
        this.#begin(event.step, event.attempt, event.at);
        break;
      case 'step.outdated':
        this.reasons.set(event.step, staleSummary(event));
        break;
      case 'step.contained':
        this.#change(event.step, { container: event.container });
        break;
      case 'step.serving':
        this.#change(event.step, { isReady: true });
        break;
      case 'step.expanded':
        this.#begin(event.step, Math.max(1, event.attempt), event.at);
        break;
      case 'step.waiting': {
        const { step: name, until, why, outcome } = event;
        const message = outcome.status === 'succeeded' ? '' : outcome.message;
        this.active.delete(name);
        this.waiting.set(name, { name, attempt: event.attempt + 1, until, why, message });
        break;
      }
      case 'step.blocked': {
        const { step: name, attempt, why } = event;
        this.active.delete(name);
        this.pending.delete(name);
        this.waiting.set(name, { name, attempt, until: null, why, message: blockedText(event) });
        break;
      }
      case 'step.acquired':
        this.#begin(event.step, event.attempt, event.at);
        break;
      case 'step.held': {
        const { step: name, attempt, until, prompt: message } = event;
        this.active.delete(name);
        this.pending.delete(name);
        this.waiting.set(name, { name, attempt, until, why: 'approval', message });
        break;
      }
      case 'step.answered': {
        const waiting = this.waiting.get(event.step);
        if (waiting !== undefined) this.waiting.set(event.step, { ...waiting, answer: event });
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
      case 'run.late':
        this.isLate = true;
        break;
      case 'step.late':
        this.late.add(event.step);
        break;
      case 'run.blocked':
        this.blocked = blockedText(event);
        break;
      case 'run.queued':
      case 'run.owned':
      case 'run.prepared':
      case 'run.delayed':
      case 'run.handling':
      case 'run.warned':
      case 'run.finished':
      case 'step.ready':
      case 'step.canceling':
      case 'step.ending':
      case 'artifact.kept':
        break;
    }
  }

  /** Whether a step that is scheduled now has to wait until another ends. */
  get #isFull(): boolean {
    return this.#limit > 0 && this.active.size >= this.#limit;
  }

  #begin(name: string, attempt: number, startedAt: number): void {
    this.pending.delete(name);
    this.waiting.delete(name);
    const lastLine = this.active.get(name)?.lastLine ?? createLastLine();
    this.active.set(name, { name, attempt, startedAt, isReady: false, container: null, lastLine });
  }

  #change(name: string, change: Partial<ActiveStep>): void {
    const step = this.active.get(name);
    if (step !== undefined) this.active.set(name, { ...step, ...change });
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

const KEPT_BYTES = 1024;
const NEWLINE = 10;

/** The last line of output. Keeps a copy of the last kilobyte and decodes it only on request, so that fast output costs little. */
function createLastLine() {
  let kept = Buffer.alloc(0);
  return {
    push: (bytes: Uint8Array) => {
      kept = Buffer.concat([kept.subarray(-Math.max(1, KEPT_BYTES - bytes.length)), bytes.subarray(-KEPT_BYTES)]);
    },
    /** Returns the last line that is not blank, without colours; empty before there is one. */
    text: () => lastText(kept.toString('utf8')),
    /** Returns the last line only if it is unfinished, like a progress bar; else empty. */
    unfinished: () => (kept.at(-1) === NEWLINE ? '' : lastText(kept.toString('utf8'))),
  };
}

function lastText(text: string): string {
  const lines = text.split(/[\r\n]+/).map((line) => stripControls(line).trim());
  // The first character may be incomplete.
  return (lines.findLast((line) => line !== '') ?? '').replace(/^\ufffd+/, '');
}
