import { userName } from '#service/control-runs.ts';

/** Returns the requester for the journal of a run: `alice (wf stop)`. */
export function requester(command: string): string {
  return `${userName()} (wf ${command})`;
}
