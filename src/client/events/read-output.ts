import type { StoredEvent } from '../../core/run/run.ts';
import type { LogChunk } from '../../store/files/logs/log-follower.ts';
import { isObject, numberIn, textIn } from '../transport/json-fields.ts';

/** What comes of a run: an event, or what a step has printed since; all that an attempt has printed comes before its end. */
export type FeedItem =
  | { readonly kind: 'event'; readonly event: StoredEvent }
  | { readonly kind: 'output'; readonly chunk: RemoteChunk };

/** What a step has printed, and where it stands in that stream of the attempt. */
export type RemoteChunk = LogChunk & { readonly offset: number };

/** Output as a daemon tells it; null for what is none. */
export function readOutput(data: string): RemoteChunk | null {
  const output = parse(data);
  if (!isObject(output)) return null;
  const { step, stream, bytes } = {
    step: textIn(output, 'step'),
    stream: output['stream'],
    bytes: textIn(output, 'bytes'),
  };
  const { attempt, offset } = { attempt: numberIn(output, 'attempt'), offset: numberIn(output, 'offset') };
  if (step === null || bytes === null || attempt === null || offset === null) return null;
  if (stream !== 'stdout' && stream !== 'stderr') return null;
  return { step, attempt, stream, offset, bytes: Buffer.from(bytes, 'base64') };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
