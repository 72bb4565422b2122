import type { LogIndex } from '#run-view/api/types.ts';
import { ApiProblem, api, ask } from '../api/client.ts';
import { type ByteSpan, continueMap, emptyMap, type LineMap } from './line-map.ts';

/** The log of one stream of one attempt. */
export type LogName = {
  readonly runId: string;
  readonly step: string;
  readonly attempt: number;
  readonly stream: 'output' | 'stdout' | 'stderr';
};

/** The address of a log, relative to the document. */
export function logAddress({ runId, step, attempt, stream }: LogName): string {
  const path = `api/v2/runs/${encodeURIComponent(runId)}/steps/${encodeURIComponent(step)}/logs`;
  return `${path}?${new URLSearchParams({ attempt: String(attempt), stream })}`;
}

/** The present map of a log, and whether the log was replaced since the known map: its known lines are then invalid. */
type ReadMap = { readonly map: LineMap; readonly isReplaced: boolean };

/** Reads the map of a log, only its end if the log has grown. `times`: with the times of its growth. */
export async function readMap(name: LogName, before: LineMap, times: boolean): Promise<ReadMap> {
  const known = times && before.times === null ? { ...emptyMap, size: before.size } : before;
  const after = known.starts.at(-1) ?? 0;
  const part = await readIndex(name, { after, times }).catch((error: unknown) => {
    // The log has no line at that position.
    if (error instanceof ApiProblem && error.status === 400 && after > 0) return null;
    throw error;
  });
  if (part !== null && part.size >= known.size) return { map: continueMap(known, part), isReplaced: false };
  return {
    map: continueMap(emptyMap, part === null || after > 0 ? await readIndex(name, { after: 0, times }) : part),
    isReplaced: true,
  };
}

/** Returns the positions of the lines of a log after a known one, in bytes. */
function readIndex(
  name: LogName,
  { after, times }: { readonly after: number; readonly times: boolean },
): Promise<LogIndex> {
  const { path, query } = paramsOf(name);
  const params = { path, query: { ...query, after, ...(times ? { times } : {}) } };
  return ask(api.GET('/api/v2/runs/{id}/steps/{step}/logs/index', { params }));
}

function paramsOf({ runId: id, step, attempt, stream }: LogName) {
  return { path: { id, step }, query: { attempt, stream } };
}

/** Streams the bytes of a part of a log. Throws an `ApiProblem`, or the reason of the signal. */
export async function* readBytes(
  name: LogName,
  { from, to }: ByteSpan,
  signal: AbortSignal | null = null,
): AsyncGenerator<Uint8Array> {
  const init = { params: paramsOf(name), headers: { Range: `bytes=${from}-${to - 1}` }, signal } as const;
  yield* chunksOf(await ask(api.GET('/api/v2/runs/{id}/steps/{step}/logs', { ...init, parseAs: 'stream' })));
}

/** The body of a response in chunks. The connection is closed if the reader stops early. */
export async function* chunksOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  if (reader === undefined) return;
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
  } finally {
    await reader.cancel().catch(() => {});
  }
}
