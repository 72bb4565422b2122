import { type ReadonlySignal, signal } from '@preact/signals';
import { ApiProblem } from '../api/problem.ts';
import { connected, disconnected } from './connection.ts';
import { LogReader, type LogText } from './log-text.ts';

/** The log of one attempt. */
export type LogName = {
  readonly runId: string;
  readonly step: string;
  readonly attempt: number;
  readonly stream: 'stdout' | 'stderr';
};

/** A log that is shown, from its end. */
export type ShownLog = {
  readonly text: ReadonlySignal<LogText | null>;
  readonly problem: ReadonlySignal<ApiProblem | null>;
  /** Reads what was added to the log; calls during a read are answered by one more. */
  readonly update: () => void;
  /** Reads a larger part, up to the start. */
  readonly readEarlier: () => void;
};

/** Of a longer log only the end is read at first. */
const FIRST_BYTES = 256 * 1024;

/** A log, before any of it is read. */
export function showLog(name: LogName): ShownLog {
  const text = signal<LogText | null>(null);
  const problem = signal<ApiProblem | null>(null);
  let reader: LogReader | null = null;
  let isReading = false;
  let isAsked = false;
  let part = FIRST_BYTES;
  const read = async () => {
    try {
      if (reader === null) {
        const size = await sizeOf(name);
        reader = new LogReader(Math.max(0, size - part));
        if (size > 0) reader.add(await bytesFrom(name, reader.to));
      } else {
        reader.add(await bytesFrom(name, reader.to));
      }
      text.value = reader.text;
      problem.value = null;
    } catch (error) {
      problem.value = ApiProblem.of(error);
    }
  };
  const update = async () => {
    isAsked = true;
    if (isReading) return;
    isReading = true;
    while (isAsked) {
      isAsked = false;
      await read();
    }
    isReading = false;
  };
  const readEarlier = () => {
    part = Math.max(part * 8, (text.value?.to ?? 0) - (text.value?.from ?? 0));
    reader = null;
    void update();
  };
  return { text, problem, update: () => void update(), readEarlier };
}

/** The address of a log, relative to the document. */
export function logAddress({ runId, step, attempt, stream }: LogName): string {
  const path = `api/v2/runs/${encodeURIComponent(runId)}/steps/${encodeURIComponent(step)}/logs`;
  return `${path}?${new URLSearchParams({ attempt: String(attempt), stream })}`;
}

/** In bytes. */
async function sizeOf(name: LogName): Promise<number> {
  const { headers } = await request(logAddress(name), 'HEAD');
  return Number(headers.get('Content-Length') ?? 0);
}

async function bytesFrom(name: LogName, offset: number): Promise<Uint8Array> {
  return new Uint8Array(await (await request(`${logAddress(name)}&offset=${offset}`, 'GET')).arrayBuffer());
}

async function request(address: string, method: 'GET' | 'HEAD'): Promise<Response> {
  const answer = await fetch(new URL(address, document.baseURI), { method }).catch((error: unknown) => {
    disconnected();
    throw ApiProblem.unreachable(error);
  });
  connected();
  if (answer.ok) return answer;
  throw ApiProblem.refused(answer, await answer.json().catch(() => null));
}
