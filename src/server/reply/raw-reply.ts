import { STATUS_CODES } from 'node:http';

/** Returns the raw bytes of a response on a connection without a valid request; the connection is then closed. */
export function rawReply(status: number, message: string, headers: Readonly<Record<string, string>> = {}): string {
  const body = `${JSON.stringify({ code: status, message, detailedMessage: message })}\n`;
  const all = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...headers,
    Connection: 'close',
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
}
