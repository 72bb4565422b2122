import { type CarriageReturn, createPieceSplitter, type LinePiece, type PieceSplitter } from '../text/lines.ts';
import type { OutputChunk } from './reporter.ts';

/** A line of a step's output without its line break. `continues`: the next line is the rest of it; `at`: of its end. */
export type OutputLine = Omit<OutputChunk, 'bytes'> & { readonly text: string; readonly continues?: true };

/** The output of all steps as lines, split for each stream of each step. */
export type StepLines = {
  readonly push: (chunk: OutputChunk) => readonly OutputLine[];
  /** Returns and forgets the unfinished lines of a step (null: of all steps). */
  readonly end: (step: string | null) => readonly OutputLine[];
};

type Held = Omit<OutputChunk, 'bytes' | 'at'> & { readonly splitter: PieceSplitter; at?: number | null };

/** Creates a `StepLines`. A new attempt starts on a new line. */
export function createStepLines(carriageReturn: CarriageReturn): StepLines {
  const held = new Map<string, Map<OutputChunk['stream'], Held>>();
  return {
    push: (chunk) => {
      const streams = entry(held, chunk.step, () => new Map<OutputChunk['stream'], Held>());
      const before = streams.get(chunk.stream);
      if (before?.attempt === chunk.attempt) {
        if (chunk.at !== undefined) before.at = chunk.at;
        return toLines(before, before.splitter.push(chunk.bytes));
      }
      const { bytes, ...from } = chunk;
      const now = { ...from, splitter: createPieceSplitter(carriageReturn) };
      streams.set(chunk.stream, now);
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

function toLines({ step, attempt, stream, at }: Held, pieces: readonly LinePiece[]): readonly OutputLine[] {
  const time = at === undefined ? {} : { at };
  return pieces.map(({ text, continues }) =>
    continues ? { step, attempt, stream, text, continues, ...time } : { step, attempt, stream, text, ...time },
  );
}

function entry<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const found = map.get(key) ?? make();
  map.set(key, found);
  return found;
}
