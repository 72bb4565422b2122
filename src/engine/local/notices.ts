import { given } from '#core/data/collections.ts';
import type { Step, Workflow } from '#core/workflow.ts';
import type { RunSecrets } from '#environment/run-secrets.ts';
import type { Source } from '#language/diagnostic.ts';
import type { RunLogs } from '#store/logs.ts';
import type { Clock } from '#system/clock.ts';
import { NOTIFY_TIMEOUT_MS } from '../driver/timers.ts';
import type { Notice, Notify } from '../engine.ts';
import type { RunRecord } from './run-record.ts';

/** The dependencies of notifications of a run. */
export type NoticeParts = {
  readonly workflow: Workflow;
  readonly record: RunRecord;
  readonly secrets: RunSecrets;
  readonly scope: Notice['scope'];
  readonly children: Notice['children'];
  readonly logs: RunLogs;
  readonly artifacts: Notice['artifacts'];
  readonly sources: readonly Source[];
  readonly warn: (step: string | null, message: string) => void;
};

/** The notifications of one run. */
export class Notices {
  readonly #notify: Notify;
  readonly #parts: NoticeParts;
  /** Made when asked for: Node loads a module for the first one, and most runs send nothing. */
  #end: AbortController | null = null;
  readonly #pending = new Set<Promise<void>>();

  constructor(notify: Notify, parts: NoticeParts) {
    this.#notify = notify;
    this.#parts = parts;
  }

  get arePending(): boolean {
    return this.#pending.size > 0;
  }

  /** A fan-out sends one notification for all its instances. */
  ofStep(step: Step, status: Notice['status']): Promise<void> {
    return step.instanceOf === undefined ? this.send(step, status) : Promise.resolve();
  }

  /** Resolves when the notification is sent or abandoned; `step` null: about the run. */
  send(step: Step | null, status: Notice['status']): Promise<void> {
    const { workflow, record, secrets, scope, children, logs, artifacts, sources } = this.#parts;
    const ending = () => this.#ending();
    const sending = this.#notify({
      step,
      status,
      state: record.shown,
      workflow,
      isMasked: secrets.isTextMasked,
      scope,
      mask: (text) => secrets.shared.mask(text),
      logs,
      ...given({ artifacts }),
      sources,
      children,
      get signal() {
        return ending().signal;
      },
    });
    if (sending === null) return Promise.resolve();
    const pending = this.#warnOf(step, sending).finally(() => this.#pending.delete(pending));
    this.#pending.add(pending);
    return pending;
  }

  async #warnOf(step: Step | null, sending: Promise<readonly string[]>): Promise<void> {
    for (const problem of await sending) this.#parts.warn(step?.name ?? null, problem);
  }

  /** Resolves when all notifications are sent, or abandoned after the time limit. */
  async settled(clock: Clock): Promise<void> {
    const message = `gave up after ${NOTIFY_TIMEOUT_MS / 1000}s`;
    const cancel = clock.setTimer(clock.now() + NOTIFY_TIMEOUT_MS, () => this.abandon(message));
    try {
      await Promise.allSettled(this.#pending);
    } finally {
      cancel();
    }
  }

  abandon(why: string): void {
    this.#ending().abort(why);
  }

  #ending(): AbortController {
    this.#end ??= new AbortController();
    return this.#end;
  }
}
