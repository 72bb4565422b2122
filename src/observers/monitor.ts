import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LogForwarding } from '../core/log-forwarding.ts';
import type { ForwardCounts } from './forward-queue.ts';
import { createForwardingMetrics } from './forwarding-metrics.ts';

export type MonitorSettings = NonNullable<LogForwarding['monitor']>;

/** A little HTTP server that tells how the forwarding goes. */
export type Monitor = { readonly port: number; readonly close: () => Promise<void> };

type Answer = { readonly status: number; readonly type: string; readonly body: string };

const json = 'application/json; charset=utf-8';

/** Null, with a warning, where the address cannot be had: the run goes on without its monitor. */
export async function openMonitor(
  settings: MonitorSettings,
  counts: () => ForwardCounts,
  warn: (message: string) => void,
): Promise<Monitor | null> {
  const { createServer } = await import('node:http');
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5000 }, (request, response) => {
    void respond(request, response, settings, counts);
  });
  try {
    await listen(server, settings);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    warn(`the monitor of log forwarding is not available at ${settings.host}:${settings.port}: ${why}`);
    return null;
  }
  const { port } = server.address() as AddressInfo;
  return {
    port,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function listen(server: Server, { host, port }: MonitorSettings): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      server.on('error', () => {});
      resolve();
    });
  });
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  settings: MonitorSettings,
  counts: () => ForwardCounts,
): Promise<void> {
  const { status, type, body } = await answer(request, settings, counts);
  const headers = { 'Content-Type': type, 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };
  response.writeHead(status, status === 405 ? { ...headers, Allow: 'GET, HEAD' } : headers);
  response.end(request.method === 'HEAD' ? undefined : body);
}

async function answer(
  request: IncomingMessage,
  settings: MonitorSettings,
  counts: () => ForwardCounts,
): Promise<Answer> {
  if (!isExpectedHost(request, settings)) return problem(403, 'this host is not served here');
  if (request.method !== 'GET' && request.method !== 'HEAD') return problem(405, 'only GET and HEAD are served');
  const [path = '', query = ''] = (request.url ?? '').split('?');
  const { basePath, metricPrefix } = settings;
  const prometheus = async () => {
    const { contentType, text } = await createForwardingMetrics(metricPrefix, counts());
    return { status: 200, type: contentType, body: text };
  };
  switch (path.startsWith(basePath) ? path.slice(basePath.length).replace(/\/$/, '') : null) {
    case '/health':
      return ok(health(counts()));
    case '/metrics':
      return wantsPrometheus(request, query) ? prometheus() : ok(counts());
    case '/metrics/prometheus':
      return prometheus();
    default:
      return problem(404, 'there is nothing here');
  }
}

function health({ closed, queueDepth, queueCapacity, dropped, failed }: ForwardCounts): object {
  return { status: closed ? 'closed' : 'ok', queueDepth, queueCapacity, dropped, failed };
}

function wantsPrometheus({ headers }: IncomingMessage, query: string): boolean {
  const format = new URLSearchParams(query).get('format');
  if (format !== null) return format === 'prometheus';
  const accept = headers.accept ?? '';
  return /text\/plain|openmetrics/.test(accept) && !accept.includes('application/json');
}

/** A web page that has had its name point here must not read what it is told. */
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
  return { status: 200, type: json, body: `${JSON.stringify(body)}\n` };
}

function problem(status: number, message: string): Answer {
  return { status, type: json, body: `${JSON.stringify({ message })}\n` };
}
