import type { IncomingHttpHeaders } from 'node:http';
import type { Writable } from 'node:stream';

/** What a login must allow before a route is reached: nothing, looking, or changing something. */
export type Access = 'public' | 'read' | 'write';

/** A request that has passed every check that needs no route: login, Host, origin, sizes, encodings. */
export type ApiRequest = {
  /** Values of the `{name}` parts of the route's path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** What the login allows: who may only look is shown no secret that a file spells out. */
  readonly access: Exclude<Access, 'public'>;
  /** The body by the route's `body`: parsed JSON, the fields of a form, a text; undefined without one. */
  readonly body: unknown;
  /** Aborted when the client has gone or the server closes. */
  readonly signal: AbortSignal;
};

/** The answer: a body that is at hand, or one that is written as it comes. */
export type Reply = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
} & (
  | { readonly body: string | Uint8Array | null }
  | {
      readonly stream: (output: Writable, signal: AbortSignal) => Promise<void>;
      /** It may have nothing to say for longer than a connection may be idle. */
      readonly isQuiet?: boolean;
    }
);

/** One entry of the table that router, checks, description and tests share. */
export type Route = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** With its leading slash, without a base path; `{name}` stands for one segment: `/api/v2/runs/{id}`. */
  readonly path: string;
  readonly access: Access;
  /** Which bodies are taken; any other media type is answered with 415. */
  readonly body: 'none' | 'json' | 'form-or-json' | 'text';
  /** How errors are told: as the v1 API does, or as RFC 9457 problem details. */
  readonly errors: 'v1' | 'problem';
  readonly handle: (request: ApiRequest) => Promise<Reply> | Reply;
};
