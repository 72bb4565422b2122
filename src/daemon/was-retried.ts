import type { RunState } from '#core/run/run-state.ts';
import type { RunArchive } from '#store/store.ts';
import { createSlices } from '#system/turns.ts';
import type { RunIndex } from './run-index.ts';

/** The maximum time of reading runs per turn of the event loop. */
const sliceMs = 10;

/** Whether a retry of a run exists, however it was started. Only newer runs can be retries of it. */
export async function wasRetried(
  { file, runId }: Pick<RunState, 'file' | 'runId'>,
  runIndex: Pick<RunIndex, 'touch' | 'refresh' | 'runIdsOf'>,
  archive: Pick<RunArchive, 'list' | 'readCreated'>,
): Promise<boolean> {
  runIndex.touch();
  await runIndex.refresh();
  const pause = createSlices(sliceMs);
  for (const newer of file === null ? archive.list() : runIndex.runIdsOf(file)) {
    if (newer === runId) return false;
    if (archive.readCreated(newer)?.retryOf === runId) return true;
    await pause();
  }
  return false;
}
