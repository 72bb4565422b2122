import type { LogIndex } from '#run-view/api/types.ts';
import { ApiProblem, api, ask } from '../api/client.ts';
import { connected, disconnected } from '../data/connection.ts';
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
  { runId: id, step, attempt, stream }: LogName,
  { after, times }: { readonly after: number; readonly times: boolean },
): Promise<LogIndex> {
  const params = { path: { id, step }, query: { attempt, stream, after, ...(times ? { times } : {}) } };
  return ask(api.GET('/api/v2/runs/{id}/steps/{step}/logs/index', { params }));
}

/** Streams the bytes of a part of a log. Throws an `ApiProblem`, or the reason of the signal. */
export async function* readBytes(
  name: LogName,
  { from, to }: ByteSpan,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const headers = { Range: `bytes=${from}-${to - 1}` };
  yield* chunksOf(await request(logAddress(name), { headers, ...(signal === undefined ? {} : { signal }) }));
}

/** Sends a request to the daemon; problems are `ApiProblem`s. */
export async function request(address: string, init: RequestInit): Promise<Response> {
  const answer = await fetch(new URL(address, document.baseURI), init).catch((error: unknown) => {
    if (init.signal?.aborted) throw error;
    disconnected();
    throw ApiProblem.unreachable(error);
  });
  connected();
  if (answer.ok) return answer;
  throw ApiProblem.refused(answer, await answer.json().catch(() => null));
}

/** The body of a response in chunks. The connection is closed if the reader stops early. */
export async function* chunksOf({ body }: Response): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  if (reader === undefined) return;
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
  } finally {
    await reader.cancel().catch(() => {});
  }
}
