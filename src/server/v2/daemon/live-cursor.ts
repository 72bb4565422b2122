import type { LiveChanges } from '../../../service/served.ts';

/** A position in the stream of all changes, and in the journal of the run that is followed with it. */
export type LiveCursor = { readonly position: number; readonly run: number | null };

/** The cursor as a text that clients only pass back. */
export function liveCursorText({ epoch }: Pick<LiveChanges, 'epoch'>, { position, run }: LiveCursor): string {
  return run === null ? `${epoch}.${position}` : `${epoch}.${position}.${run}`;
}

/** What a text stands for; null for one that this daemon has not given. */
export function readLiveCursor(text: string, { epoch }: Pick<LiveChanges, 'epoch'>): LiveCursor | null {
  const [, of, position = '', run] = /^([0-9a-f]+)\.(\d{1,15})(?:\.(\d{1,15}))?$/.exec(text) ?? [];
  return of === epoch ? { position: Number(position), run: run === undefined ? null : Number(run) } : null;
}
