import { readFileSync } from 'node:fs';

/** The limits for one client or all clients together. Times are in milliseconds. */
export type Limits = {
  readonly bodyBytes: number;
  /** The bytes of a too large body that are read and discarded, so that the client reads the error response. */
  readonly discardedBytes: number;
  /** The size of the request line and all header lines. */
  readonly headerBytes: number;
  readonly headerCount: number;
  readonly headersMs: number;
  /** The time from the first byte of a request to the last byte of its body. */
  readonly requestMs: number;
  readonly keepAliveMs: number;
  /** The time without a byte in either direction; streams send heartbeats more often. */
  readonly idleMs: number;
  /** The interval of checking connections for the times above. */
  readonly checkMs: number;
  /** The maximum number of connections; lower if the process may not open that many files. */
  readonly connections: number;
  /** The maximum number of connections that receive an error response; others are closed without one. */
  readonly refusedConnections: number;
  /** The time for running requests when the server closes. */
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

/** The files reserved for journals, processes being started, and watched directories. */
const reserved = 1000;

/** Returns the number of connections that leaves room for other open files; unlimited if the system's limit is unknown. */
export function connectionsThatFit(): number {
  const limit = openFilesLimit();
  return limit === null ? Number.POSITIVE_INFINITY : Math.max(Math.floor(limit / 2), limit - reserved);
}

function openFilesLimit(): number | null {
  try {
    const match = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'));
    return match === null ? null : Number(match[1]);
  } catch {
    return null;
  }
}
