import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LogForwarding } from '#core/log-forwarding.ts';
import type { ForwardCounts } from './forward-queue.ts';

export type MonitorSettings = NonNullable<LogForwarding['monitor']>;

/** A small HTTP server that reports the state of forwarding. */
export type Monitor = {
  /** Null while another process uses the address. */
  readonly port: () => number | null;
  readonly close: () => Promise<void>;
};

type Answer = { readonly status: number; readonly type: string; readonly body: string };

const JSON_TYPE = 'application/json; charset=utf-8';

/** How often to retry an address in use, in milliseconds. */
const RETRY_MS = 1000;

/** Opens the monitor. While another process uses its address it waits; any other problem is a warning. */
export async function openMonitor(
  settings: MonitorSettings,
  counts: () => ForwardCounts,
  { warn, retryMs = RETRY_MS }: { readonly warn: (message: string) => void; readonly retryMs?: number },
): Promise<Monitor> {
  const { createServer } = await import('node:http');
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5000 }, async (request, response) => {
    respond(request, response, await answer(request, settings, counts));
  });
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const open = async (): Promise<NodeJS.ErrnoException | null> => {
    const error = await listen(server, settings);
    if (error === null && isClosed) await closed(server);
    if (error?.code === 'EADDRINUSE' && !isClosed) timer = setTimeout(() => void open(), retryMs).unref();
    return error;
  };
  const error = await open();
  if (error !== null) {
    const later = error.code === 'EADDRINUSE' ? '; wf retries until it is free' : '';
    warn(
      `the monitor of log forwarding is not available at ${settings.host}:${settings.port}: ${error.message}${later}`,
    );
  }
  return {
    port: () => (server.listening ? (server.address() as AddressInfo).port : null),
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      if (server.listening) await closed(server);
    },
  };
}

/** Resolves to the error, or null once the server listens. */
function listen(server: Server, { host, port }: MonitorSettings): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    server.once('error', resolve);
    server.listen(port, host, () => {
      server.removeAllListeners('error').on('error', () => {});
      resolve(null);
    });
  });
}

function closed(server: Server): Promise<void> {
  const whenClosed = new Promise<void>((resolve) => void server.close(() => resolve()));
  server.closeAllConnections();
  return whenClosed;
}

function respond({ method }: IncomingMessage, response: ServerResponse, { status, type, body }: Answer): void {
  const headers = { 'Content-Type': type, 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };
  response.writeHead(status, status === 405 ? { ...headers, Allow: 'GET, HEAD' } : headers);
  response.end(method === 'HEAD' ? undefined : body);
}

async function answer(
  request: IncomingMessage,
  settings: MonitorSettings,
  counts: () => ForwardCounts,
): Promise<Answer> {
  if (!isExpectedHost(request, settings)) return problem(403, 'this host is not allowed');
  if (request.method !== 'GET' && request.method !== 'HEAD') return problem(405, 'only GET and HEAD are allowed');
  const [path = '', query = ''] = (request.url ?? '').split('?');
  const { basePath, metricPrefix } = settings;
  switch (path.startsWith(basePath) ? path.slice(basePath.length).replace(/\/$/, '') : null) {
    case '/health': {
      const { closed, queueDepth, queueCapacity, dropped, failed } = counts();
      return ok({ status: closed ? 'closed' : 'ok', queueDepth, queueCapacity, dropped, failed });
    }
    case '/metrics':
      return wantsPrometheus(request, query) ? prometheus(metricPrefix, counts()) : ok(counts());
    case '/metrics/prometheus':
      return prometheus(metricPrefix, counts());
    default:
      return problem(404, 'not found');
  }
}

function wantsPrometheus({ headers }: IncomingMessage, query: string): boolean {
  const format = new URLSearchParams(query).get('format');
  if (format !== null) return format === 'prometheus';
  const accept = headers.accept ?? '';
  return /text\/plain|openmetrics/.test(accept) && !accept.includes('application/json');
}

/** Rejects requests with a foreign Host header, so that a web page cannot read the monitor by DNS rebinding. */
function isExpectedHost({ headers, rawHeaders }: IncomingMessage, settings: MonitorSettings): boolean {
  const given = rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host').length;
  const host = (headers.host ?? '')
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();
  const isAddress = /^[\d.]+$/.test(host) || host.includes(':');
  return given === 1 && (isAddress || host === 'localhost' || host === settings.host.toLowerCase());
}

function ok(body: object): Answer {
  return { status: 200, type: JSON_TYPE, body: `${JSON.stringify(body)}\n` };
}

function problem(status: number, message: string): Answer {
  return { status, type: JSON_TYPE, body: `${JSON.stringify({ message })}\n` };
}

const results = ['queued', 'forwarded', 'dropped', 'failed', 'retried'] as const;

/** The counts in the text format of Prometheus, under names that existing dashboards know except for their prefix. */
async function prometheus(prefix: string, counts: ForwardCounts): Promise<Answer> {
  const { Counter, Gauge, Registry } = await import('prom-client');
  const registry = new Registry();
  const registers = [registry];
  const gauge = (name: string, help: string, value: number) =>
    new Gauge({ name: `${prefix}_log_forwarding_${name}`, help, registers }).set(value);
  gauge('queue_depth', 'Records waiting or being sent.', counts.queueDepth);
  gauge('queue_capacity', 'Maximum number of waiting records.', counts.queueCapacity);
  gauge('sink_closed', 'Whether the sink is closed (1) or open (0).', counts.closed ? 1 : 0);
  const name = `${prefix}_log_forwarding_records_total`;
  const help = 'Records by result.';
  const records = new Counter({ name, help, labelNames: ['result'], registers });
  for (const result of results) records.inc({ result }, counts[result]);
  return { status: 200, type: registry.contentType, body: await registry.metrics() };
}
