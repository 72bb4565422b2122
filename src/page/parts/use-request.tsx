import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { ApiProblem } from '../api/client.ts';

/** The request of a control. */
export type ControlRequest = {
  /** Also after a success, since most controls are then gone. */
  readonly isPending: Signal<boolean>;
  readonly problem: Signal<ApiProblem | null>;
  /** Does `work` unless other work is pending; returns whether it succeeded. */
  readonly send: (work: () => Promise<unknown>) => Promise<boolean>;
};

/** Creates the request of a control. */
export function useRequest(): ControlRequest {
  const isPending = useSignal(false);
  const problem = useSignal<ApiProblem | null>(null);
  const send = async (work: () => Promise<unknown>): Promise<boolean> => {
    if (isPending.value) return false;
    isPending.value = true;
    problem.value = null;
    try {
      await work();
      return true;
    } catch (error) {
      problem.value = ApiProblem.of(error);
      isPending.value = false;
      return false;
    }
  };
  return { isPending, problem, send };
}

/** The problem of a request, beside its control. */
export function ActionProblem({ problem }: { problem: ApiProblem | null }): JSX.Element | null {
  if (problem === null) return null;
  return (
    <p class="action-problem" role="alert">
      {problem.message}
      {problem.help && `. ${problem.help}`}
    </p>
  );
}
