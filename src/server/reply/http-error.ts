/** A request that HTTP itself refuses, before or beside any use case; it becomes an answer in `error-reply.ts` alone. */
export class HttpError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** What the client can do about it, as a sentence; null where the message says it all. */
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
