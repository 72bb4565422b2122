import { WfError } from '../../errors.ts';

/**
 * Whether a text can be the id of a run, and so the name of a directory: 1 to 128 of `A-Z a-z 0-9 . _ -`, not starting
 * with a dot, which would hide it, nor with a dash, which a command would take for an option.
 */
export function isRunId(text: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/.test(text);
}

/** Throws a `WfError` `usage` for a text that cannot be the id of a run. */
export function checkRunId(text: string): void {
  if (isRunId(text)) return;
  throw new WfError('usage', `"${text}" cannot be the id of a run`, {
    help: 'An id is 1 to 128 characters of A-Z a-z 0-9 . _ - and starts with a letter, a digit or "_".',
  });
}

/** When a UUID of version 7 was made, in milliseconds since 1970; null for any other id. */
export function timeOfId(runId: string): number | null {
  const uuid = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.exec(runId);
  return uuid === null ? null : Number.parseInt(`${uuid[1]}${uuid[2]}`, 16);
}
