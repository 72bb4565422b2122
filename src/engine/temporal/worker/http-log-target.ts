import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest, Agent as TlsAgent } from 'node:https';
import { text } from 'node:stream/consumers';
import { messageOf, tryOr, WfError } from '#system/errors.ts';
import type { FilePiece } from '#system/file-pieces.ts';
import type { LogTarget, ShippedLog } from './log-shipper.ts';

/** A daemon that stores logs; `worker`: the name of the worker that sends them. */
type HttpLogStore = { readonly url: string; readonly token: string; readonly worker: string };

type Answer = { readonly size?: unknown; readonly detail?: unknown };

const ANSWER_MS = 30_000;

/** Sends logs to a daemon. */
export function httpLogTarget(store: HttpLogStore): LogTarget {
  const isTls = store.url.startsWith('https:');
  const options = { keepAlive: true, maxSockets: 4 };
  const agent = isTls ? new TlsAgent(options) : new Agent(options);
  return {
    url: store.url,
    send: async (log, piece) => {
      const { status, body } = await put(store, log, piece, isTls ? { httpsAgent: agent } : { httpAgent: agent });
      const answer: Answer = tryOr({}, () => JSON.parse(body) as Answer);
      if (status === 200 && typeof answer.size === 'number') return answer.size;
      const why = typeof answer.detail === 'string' ? answer.detail : `it answers with status ${status}`;
      throw refusal(status, why);
    },
  };
}

function refusal(status: number, message: string): WfError {
  if (status === 404) return new WfError('not-found', message);
  if (status === 409) return new WfError('conflict', message);
  if (status === 401) return new WfError('denied', message, { help: 'use the engineLogsToken of the daemon' });
  return new WfError('unreachable', message);
}

type Agents = { readonly httpAgent?: Agent; readonly httpsAgent?: Agent };

async function put(
  { url, token, worker }: HttpLogStore,
  { runId, step, attempt, stream }: ShippedLog,
  { offset, bytes, total }: FilePiece,
  { httpAgent, httpsAgent }: Agents,
): Promise<{ readonly status: number; readonly body: string }> {
  const path = ['api', 'v2', 'runs', runId, 'logs', step, String(attempt)].map(encodeURIComponent).join('/');
  const query = new URLSearchParams({
    stream,
    offset: String(offset),
    worker,
    ...(total === null ? {} : { total: String(total) }),
  });
  const options = {
    method: 'PUT',
    agent: httpsAgent ?? httpAgent,
    timeout: ANSWER_MS,
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/octet-stream',
      'Content-Length': String(bytes.length),
    },
  };
  const target = `${url}/${path}?${query}`;
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent: ClientRequest =
        httpsAgent === undefined ? httpRequest(target, options, resolve) : httpsRequest(target, options, resolve);
      sent.on('timeout', () => sent.destroy(new Error(`no answer in ${ANSWER_MS / 1000}s`)));
      sent.on('error', reject);
      sent.end(bytes);
    });
    return { status: response.statusCode ?? 0, body: await text(response) };
  } catch (cause) {
    throw new WfError('unreachable', messageOf(cause), { cause });
  }
}
