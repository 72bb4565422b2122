import type { AttemptContext } from '#engine/attempt/attempt-context.ts';
import { keepGenerated, restoreGenerated } from '#engine/attempt/cached-files.ts';
import { createResultCache } from '#store/files/fingerprints/result-cache.ts';
import type { CacheSlot } from '#store/store.ts';

const secrets = { shared: { isEmpty: true, mask: (text: string) => text } } as AttemptContext['secrets'];
const kill = { aborted: false } as AttemptContext['kill'];

/** A place in the cache, for a step whose only input has this hash. */
function slotFor(hash: string): CacheSlot {
  return { step: 'build', scope: 'file', entries: [['source', 'a', hash]] };
}

/** Keeps all files below `out` as a success with an input of this hash. Returns why not; null: it is kept. */
export async function keepResult(root: string, cwd: string, hash = 'a', maxBytes = 2 ** 30): Promise<string | null> {
  const cache = createResultCache(root, '/w/a.yaml', maxBytes);
  const draft = cache.begin();
  try {
    const kept = await keepGenerated(['out'], { secrets, kill }, { cwd, cache, draft });
    if ('obstacle' in kept) return kept.obstacle;
    const success = { runId: `run-${hash}`, at: 1, durationMs: 1, exitCode: 0, outputs: { HASH: hash } };
    draft.end(slotFor(hash), { ...success, files: kept.files });
    return null;
  } finally {
    draft.close();
  }
}

/** Restores what `keepResult` has kept: returns why not; null: it is restored. */
export async function restoreResult(root: string, cwd: string, hash = 'a'): Promise<string | null> {
  const cache = createResultCache(root, '/w/a.yaml', 2 ** 30);
  const { success, damage } = cache.read(slotFor(hash));
  if (success === null) return damage ?? 'nothing is kept';
  const problem = await restoreGenerated(success.files, kill, { cwd, cache });
  if (problem === null) cache.use(slotFor(hash));
  return problem;
}
