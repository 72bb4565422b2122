/** How much of everything one client, or all of them together, may take. Times are in milliseconds. */
export type Limits = {
  readonly bodyBytes: number;
  /** A body that is too large is read on for so many bytes, unkept, so that its sender gets to read the refusal. */
  readonly discardedBytes: number;
  /** The request line and all header lines together. */
  readonly headerBytes: number;
  readonly headerCount: number;
  readonly headersMs: number;
  /** From the first byte of a request to the last of its body. */
  readonly requestMs: number;
  readonly keepAliveMs: number;
  /** Without a byte in either direction: streams send something more often than that. */
  readonly idleMs: number;
  /** How often connections are looked at for the times above. */
  readonly checkMs: number;
  /** Less where the process may not open so many files. */
  readonly connections: number;
  /** Connections that are being told that there are too many; more are cut off without a word. */
  readonly refusedConnections: number;
  /** How long requests that are going on may take when the server closes. */
  readonly closeMs: number;
};

/** The limits of `wf serve`. */
export const defaultLimits: Limits = {
  bodyBytes: 1024 * 1024,
  discardedBytes: 4 * 1024 * 1024,
  headerBytes: 16 * 1024,
  headerCount: 100,
  headersMs: 10_000,
  requestMs: 30_000,
  keepAliveMs: 10_000,
  idleMs: 120_000,
  checkMs: 2000,
  connections: 16_000,
  refusedConnections: 200,
  closeMs: 2000,
};
