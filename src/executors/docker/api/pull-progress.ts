import { createInterface } from 'node:readline';

/** A line of the daemon's report on a pull. */
type PullEvent = {
  readonly id?: string;
  readonly status?: string;
  readonly error?: string;
};

/**
 * Tells of a pull as it goes on: a line at its beginning, one for every layer that has been fetched, and how it ended. What
 * the daemon says of every chunk is left out. Rejects with the daemon's words when the pull fails.
 */
export async function reportPull(
  progress: NodeJS.ReadableStream,
  image: string,
  print: (line: string) => void,
): Promise<void> {
  print(`pulling ${image}`);
  const layers = new Set<string>();
  const arrived = new Set<string>();
  for await (const line of createInterface({ input: progress, crlfDelay: Number.POSITIVE_INFINITY })) {
    const { id, status = '', error } = parseEvent(line);
    if (error !== undefined) throw new Error(error);
    if (id !== undefined && /^(Pulling fs layer|Pull complete)$/.test(status)) {
      layers.add(id);
    }
    if (id !== undefined && status === 'Pull complete' && !arrived.has(id)) {
      arrived.add(id);
      print(`pulling ${image}: layer ${arrived.size} of ${layers.size}`);
    }
    if (status.startsWith('Status: ')) print(status.slice('Status: '.length));
  }
}

function parseEvent(line: string): PullEvent {
  try {
    const event: unknown = JSON.parse(line);
    return typeof event === 'object' && event !== null ? event : {};
  } catch {
    return {};
  }
}
