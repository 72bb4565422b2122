import { logStream } from '#store/log-ends.ts';
import type { LogStream, RunLogs } from '#store/logs.ts';
import { type DaemonClient, segment } from '../daemon-client.ts';
import { answerBytes } from '../transport/answer-bytes.ts';
import { createPatience } from '../transport/patience.ts';

/** Returns the output of a run of a daemon. Reads wait if the daemon does not answer for a while, until the signal. */
export function remoteRunLogs(client: DaemonClient, runId: string, signal: AbortSignal): RunLogs {
  const pathOf = (step: string, attempt: number, stream: LogStream) =>
    `/runs/${segment(runId)}/steps/${segment(step)}/logs?attempt=${attempt}&stream=${stream}`;
  const known = new Map<string, readonly LogStream[]>();
  return {
    streams: async (step, attempt) => {
      const path = pathOf(step, attempt, 'stdout');
      const streams = known.get(path) ?? (await readStreams(client, path, signal));
      known.set(path, streams);
      return streams;
    },
    times: async (step, attempt, stream) => {
      const { times } = await client.get(
        `${pathOf(step, attempt, stream).replace('/logs?', '/logs/index?')}&times=true`,
      );
      // An earlier version has none.
      return Array.isArray(times) ? times.map(([size, at]) => [Number(size), Number(at)] as const) : null;
    },
    file: (step, attempt, stream) => {
      const path = pathOf(step, attempt, stream);
      return {
        path: null,
        size: () => client.size(path),
        read: (from, to = Number.POSITIVE_INFINITY) => readRange(client, { path, from, to, signal }),
      };
    },
  };
}

async function readStreams(client: DaemonClient, path: string, signal: AbortSignal): Promise<readonly LogStream[]> {
  const patience = createPatience(client);
  for (;;) {
    try {
      // An earlier version has two logs.
      const names = (await client.header(path, 'log-streams')) ?? 'stdout, stderr';
      patience.refresh();
      return names.split(', ').flatMap((name) => logStream(name) ?? []);
    } catch (error) {
      await patience.wait(error, signal);
    }
  }
}

/** Bytes of a log; `path`: its API path with a query. */
type LogRange = {
  readonly path: string;
  readonly from: number;
  readonly to: number;
  readonly signal: AbortSignal;
};

async function* readRange(
  client: DaemonClient,
  { path, from, to, signal }: LogRange,
): AsyncGenerator<Uint8Array, void> {
  const patience = createPatience(client);
  for (let at = from; at < to; ) {
    try {
      // Not a header `Range`: a shorter log would be an error.
      const incoming = await client.open(`${path}&offset=${at}`, signal, { Accept: '*/*' });
      patience.refresh();
      for await (const bytes of answerBytes(incoming, client)) {
        const wanted = bytes.subarray(0, to - at);
        at += wanted.length;
        yield wanted;
        if (at >= to) return;
      }
      return;
    } catch (error) {
      await patience.wait(error, signal);
    }
  }
}
