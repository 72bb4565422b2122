import { userName } from '#service/user-name.ts';

/** Returns the requester for the journal of a run: `alice (wf stop)`. */
export function requester(command: string): string {
  return `${userName()} (wf ${command})`;
}
