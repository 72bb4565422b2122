/** What a forwarded line may tell beside the four fields that each has. */
export type RecordField = 'timestamp' | 'stream' | 'attempt';

/** Where and how the lines of runs are forwarded. */
export type LogForwarding = {
  readonly httpUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Of one request. */
  readonly timeoutMs: number;
  /** False: only what happens to the run and its steps is told. */
  readonly includeStepOutput: boolean;
  readonly fields: readonly RecordField[];
  /** The most records that wait, those on their way included. */
  readonly queueSize: number;
  /** Records in one request; 1: each is the body by itself, else they are a list. */
  readonly batchSize: number;
  /** Further tries of a request. Each waits twice as long as the one before. */
  readonly maxRetries: number;
  readonly initialBackoffMs: number;
  readonly maxBackoffMs: number;
  /** Null: there is none. `basePath` begins with a slash and ends without one, or is empty. Port 0: any that is free. */
  readonly monitor: {
    readonly host: string;
    readonly port: number;
    readonly basePath: string;
    readonly metricPrefix: string;
  } | null;
};
