import { splitInstanceName } from '#core/fan-out/instance-name.ts';
import { allSteps, type Step, type Workflow } from '#core/workflow.ts';
import { type CarriageReturn, createPieceSplitter, type LinePiece, type PieceSplitter } from '../text/lines.ts';
import { keepColors, stripControls } from '../text/sanitize.ts';
import { isolateColors, type SgrState } from '../text/sgr.ts';
import type { OutputChunk } from './reporter.ts';

/** A line of a step's output without its line break. `continues`: the next line is the rest of it; `at`: of its end. */
export type OutputLine = Omit<OutputChunk, 'bytes'> & { readonly text: string; readonly continues?: true };

type Held = Omit<OutputChunk, 'bytes' | 'at'> & {
  readonly splitter: PieceSplitter;
  readonly shown: (text: string) => string;
  at?: number | null;
};

/** Splits the output of all steps into unchanged lines, for each stream of each step. A new attempt starts on a new line. */
export function createStepLines() {
  return createLines('keep', () => (text) => text);
}

/** Like `createStepLines`, for people: keeps text and, unless they are unwanted, colours, which end and start with a line. */
export function createShownLines(keepsColors = true) {
  return createLines('overwrite', () => {
    const open: SgrState = new Map();
    return keepsColors ? (text) => isolateColors(keepColors(text), open) : stripControls;
  });
}

function createLines(carriageReturn: CarriageReturn, createShown: () => Held['shown']) {
  const held = new Map<string, Map<OutputChunk['stream'], Held>>();
  return {
    push: (chunk: OutputChunk): readonly OutputLine[] => {
      const streams = held.get(chunk.step) ?? new Map<OutputChunk['stream'], Held>();
      held.set(chunk.step, streams);
      const before = streams.get(chunk.stream);
      if (before?.attempt === chunk.attempt) {
        if (chunk.at !== undefined) before.at = chunk.at;
        return toLines(before, before.splitter.push(chunk.bytes));
      }
      const { bytes, ...from } = chunk;
      const now = { ...from, splitter: createPieceSplitter(carriageReturn), shown: createShown() };
      streams.set(chunk.stream, now);
      return [...(before ? rest(before) : []), ...toLines(now, now.splitter.push(bytes))];
    },
    /** Returns and forgets the unfinished lines of a step (null: of all steps). */
    end: (step: string | null): readonly OutputLine[] => {
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

function toLines({ step, attempt, stream, at, shown }: Held, pieces: readonly LinePiece[]): readonly OutputLine[] {
  const time = at === undefined ? {} : { at };
  return pieces.map(({ text, continues }) => {
    const line = { step, attempt, stream, text: shown(text) };
    return continues ? { ...line, continues, ...time } : { ...line, ...time };
  });
}

/** The steps and handlers of a workflow by their names in events. */
export type NodesByName = { readonly get: (name: string) => Step | undefined };

/** Returns the steps and handlers of a workflow by their names in events; an instance of a fan-out has its step. */
export function nodesByName(workflow: Workflow): NodesByName {
  const nodes = new Map(allSteps(workflow).map((step) => [step.name, step]));
  return {
    get: (name) => {
      const node = nodes.get(name);
      const step = node === undefined ? splitInstanceName(name)?.step : undefined;
      return step === undefined ? node : nodes.get(step);
    },
  };
}
