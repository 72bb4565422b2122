import { deepStrictEqual } from 'node:assert';
import type { Outputs, RunInput } from '#core/run/run.ts';
import { Secrets } from '#core/secrets/secrets.ts';
import type { PreparedRun } from '#engine/driver/driver.ts';
import type { StepTask } from '#engine/driver/step-task.ts';
import type { RunRequest } from '#engine/engine.ts';
import type { StartedChild, SubworkflowRequest, SubworkflowResult } from '#executors/executor.ts';

/** Messages to the worker of a run, in order. Both sides see the same files, so paths may cross, but no open file. */
export type ToWorker =
  /** First: evaluate the run. `secrets`: values that are known already, for example to the parent run. */
  | {
      readonly type: 'prepare';
      readonly request: RunRequest;
      readonly files: RunPaths;
      readonly secrets: readonly string[];
    }
  | { readonly type: 'stop-preparation' }
  | { readonly type: 'attempt'; readonly task: StepTask }
  | { readonly type: 'set'; readonly outputs: Outputs }
  | { readonly type: 'end'; readonly step: string }
  | { readonly type: 'stop'; readonly fanOut?: string }
  | { readonly type: 'kill' }
  | { readonly type: 'secret'; readonly value: string }
  /** The child run of a step has started, or `child` is absent: it cannot start. */
  | { readonly type: 'child-started'; readonly step: string; readonly child?: StartedChild }
  /** A line about the child run for the log of its step. */
  | { readonly type: 'child-line'; readonly step: string; readonly text: string }
  | { readonly type: 'child-ended'; readonly step: string; readonly end: ChildEnd }
  /** Last: end what the steps left behind, except those in `spared`. The worker ends when the host disconnects. */
  | { readonly type: 'clean-up'; readonly spared: readonly string[]; readonly force: boolean };

/** Messages of a worker. */
export type ToHost =
  | { readonly type: 'prepared'; readonly prepared: PreparedRun }
  | { readonly type: 'input'; readonly input: RunInput }
  | { readonly type: 'warning'; readonly step: string | null; readonly message: string }
  | { readonly type: 'secret'; readonly value: string }
  | ChildRequest
  | { readonly type: 'end-child'; readonly step: string; readonly how: 'stop' | 'kill' }
  | { readonly type: 'cleaned-up' };

/** A step runs another workflow; `variables`: those of its texts. */
export type ChildRequest = {
  readonly type: 'child';
  readonly step: string;
  readonly attempt: number;
  readonly asked: SubworkflowRequest;
  readonly variables: Readonly<Record<string, string>>;
};

/** The result of a child run, or why its parameters cannot be evaluated. */
export type ChildEnd = SubworkflowResult | { readonly problem: string };

/** Where the attempts of a run write. */
export type RunPaths = { readonly journal: string | null; readonly logs: string; readonly scratch: string };

/** Returns a message that is to be sent. Throws for one that would not arrive as it is. */
export function asData<T extends ToWorker | ToHost>(message: T): T {
  deepStrictEqual(JSON.parse(JSON.stringify(message)), message, `"${message.type}" is not data`);
  return message;
}

/** Secrets of a run in one of its processes: tells the others of each value that it learns. */
export class ToldSecrets extends Secrets {
  readonly values = new Set<string>();
  readonly #listeners = new Set<(value: string) => void>();

  override add(value: string): boolean {
    const canBeMasked = super.add(value);
    if (value === '' || !canBeMasked || this.values.has(value)) return canBeMasked;
    this.values.add(value);
    for (const tell of this.#listeners) tell(value);
    return true;
  }

  /** Calls back for each value that is added; returns a function that ends that. */
  onValue(tell: (value: string) => void): () => void {
    this.#listeners.add(tell);
    return () => this.#listeners.delete(tell);
  }
}
