import { type CarriageReturn, createPieceSplitter, type LinePiece, type PieceSplitter } from '../text/lines.ts';
import type { OutputChunk } from './reporter.ts';

/** A line of a step's output without its line break. `continues`: the next line is the rest of it. */
export type OutputLine = Omit<OutputChunk, 'bytes'> & { readonly text: string; readonly continues?: true };

/** The output of all steps as lines, split for each stream of each step. */
export type StepLines = {
  readonly push: (chunk: OutputChunk) => readonly OutputLine[];
  /** Returns and forgets the unfinished lines of a step (null: of all steps). */
  readonly end: (step: string | null) => readonly OutputLine[];
};

type Held = Omit<OutputChunk, 'bytes'> & { readonly splitter: PieceSplitter };

/** Creates a `StepLines`. A new attempt starts on a new line. */
export function createStepLines(carriageReturn: CarriageReturn): StepLines {
  const held = new Map<string, Map<OutputChunk['stream'], Held>>();
  return {
    push: (chunk) => {
      const streams = entry(held, chunk.step, () => new Map<OutputChunk['stream'], Held>());
      const before = streams.get(chunk.stream);
      if (before?.attempt === chunk.attempt) return toLines(before, before.splitter.push(chunk.bytes));
      const { step, attempt, stream, bytes } = chunk;
      const now = { step, attempt, stream, splitter: createPieceSplitter(carriageReturn) };
      streams.set(stream, now);
      return [...(before ? rest(before) : []), ...toLines(now, now.splitter.push(bytes))];
    },
    end: (step) => {
      if (held.size === 0) return [];
      const ended = [...(step === null ? held.values() : [held.get(step) ?? new Map()])];
      if (step === null) held.clear();
      else held.delete(step);
      return ended.flatMap((streams) => [...streams.values()].flatMap(rest));
    },
  };
}

function rest(held: Held): readonly OutputLine[] {
  return toLines(held, held.splitter.flush());
}

function toLines({ step, attempt, stream }: Held, pieces: readonly LinePiece[]): readonly OutputLine[] {
  return pieces.map(({ text, continues }) =>
    continues ? { step, attempt, stream, text, continues } : { step, attempt, stream, text },
  );
}

function entry<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const found = map.get(key) ?? make();
  map.set(key, found);
  return found;
}
