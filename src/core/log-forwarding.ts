/** Optional fields of a forwarded record; four further fields are always present. */
export type RecordField = 'timestamp' | 'stream' | 'attempt';

/** Where and how the lines of runs are forwarded. */
export type LogForwarding = {
  readonly httpUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Timeout of one request. */
  readonly timeoutMs: number;
  /** False: forward only the events of the run and its steps. */
  readonly includeStepOutput: boolean;
  readonly fields: readonly RecordField[];
  /** Maximum number of unsent records, including those being sent. */
  readonly queueSize: number;
  /** Records per request. With 1, the body is the record itself, otherwise a list. */
  readonly batchSize: number;
  /** Retries of a request. Each waits twice as long as the one before. */
  readonly maxRetries: number;
  readonly initialBackoffMs: number;
  readonly maxBackoffMs: number;
  /** Null: no monitor. `basePath` starts with a slash and does not end with one, or is empty. Port 0: any free port. */
  readonly monitor: {
    readonly host: string;
    readonly port: number;
    readonly basePath: string;
    readonly metricPrefix: string;
  } | null;
};
