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
