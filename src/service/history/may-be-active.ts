import type { RunArchive } from '#store/store.ts';
import { WfError } from '#system/errors.ts';

/**
 * Whether a run may be unfinished, judged by its directory alone. False for a directory that cannot be read: of another user,
 * or on a damaged disk. One such run must not hide all others.
 */
export function mayBeActive(runId: string, { mayGoOn }: Pick<RunArchive, 'mayGoOn'>): boolean {
  try {
    return mayGoOn(runId);
  } catch (error) {
    if (error instanceof WfError) return false;
    throw error;
  }
}
