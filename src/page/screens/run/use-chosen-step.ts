import { useEffect, useRef } from 'preact/hooks';
import type { StepView } from '#run-view/api/types.ts';

/**
 * The selected step: the one of the address, else the default. A displayed step that waits for approval stays selected,
 * since its form may contain a comment.
 */
export function useChosenStep(steps: readonly StepView[], asked: string | undefined): StepView | null {
  const shown = useRef<string | undefined>(undefined);
  const isKept = ({ name, waitingFor }: StepView) => name === shown.current && waitingFor === 'approval';
  const chosen = steps.find(({ name }) => name === asked) ?? steps.find(isKept) ?? firstOfInterest(steps);
  useEffect(() => {
    shown.current = chosen?.name;
  });
  return chosen;
}

/**
 * The default selection: the first failure, else a step that waits for approval, else a running one, else the last one
 * that ran.
 */
function firstOfInterest(steps: readonly StepView[]): StepView | null {
  const started = steps.filter(({ startedAt }) => startedAt !== null);
  const newest = started.toSorted((a, b) => Date.parse(b.startedAt ?? '') - Date.parse(a.startedAt ?? ''));
  return (
    steps.find(({ status }) => status === 'failed') ??
    steps.find(({ waitingFor }) => waitingFor === 'approval') ??
    newest.find(({ status }) => status === 'running') ??
    newest[0] ??
    steps[0] ??
    null
  );
}
