import type { IncomingHttpHeaders } from 'node:http';
import type { Writable } from 'node:stream';
import type { Visitor } from './access/visitor.ts';

/** The access that a route requires: none, none for a browser that wants a page and else reading, reading, or changing. */
type Access = 'public' | 'page' | 'read' | 'write';

/** A request that has passed the general checks: login, Host, origin, sizes, encodings. */
export type ApiRequest = {
  /** Values of the `{name}` parts of the route's path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** The access of the login; a read-only login must not see secrets in files. */
  readonly access: 'read' | 'write';
  /** The client, for routes about its session. */
  readonly visitor: Visitor;
  /** The body by the route's `body`: parsed JSON, the fields of a form, a text; undefined without one. */
  readonly body: unknown;
  /** Aborted when the client disconnects or the server closes. */
  readonly signal: AbortSignal;
};

/** The response: a complete body or a stream. */
export type Reply = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
} & (
  | { readonly body: string | Uint8Array | null }
  | {
      readonly stream: (output: Writable, signal: AbortSignal) => Promise<void>;
      /** Whether the stream may be silent for longer than a connection may be idle. */
      readonly isQuiet?: boolean;
    }
);

/** One entry of the table that router, checks, description and tests share. */
export type Route = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path with a leading slash, without the base path; `{name}` matches one segment: `/api/v2/runs/{id}`. */
  readonly path: string;
  readonly access: Access;
  /** The accepted bodies; any other media type gets 415. */
  readonly body: 'none' | 'json' | 'form-or-json' | 'text';
  /** The format of errors: that of the v1 API, or RFC 9457 problem details. */
  readonly errors: 'v1' | 'problem';
  readonly handle: Handler;
};

/** Answers a request to a route. */
export type Handler = (request: ApiRequest) => Promise<Reply> | Reply;

/** Creates a JSON response. */
export function jsonReply(value: unknown, status = 200): Reply {
  return { status, body: `${JSON.stringify(value)}\n` };
}

/** An error of the HTTP request itself; `error-reply.ts` converts it to a response. */
export class HttpError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Help for the client, as a sentence; null if the message is sufficient. */
  readonly help: string | null;

  constructor(
    status: number,
    message: string,
    options: { readonly help?: string; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message);
    this.name = 'HttpError';
    this.status = status;
    this.headers = options.headers ?? {};
    this.help = options.help ?? null;
  }
}
