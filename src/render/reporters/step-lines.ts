import { splitInstanceName } from '#core/fan-out/instance-name.ts';
import { allSteps, type Step, type Workflow } from '#core/workflow.ts';
import { type CarriageReturn, createPieceSplitter, type LinePiece, type PieceSplitter } from '../text/lines.ts';
import { keepColors, stripControls } from '../text/sanitize.ts';
import { isolateColors, type SgrState } from '../text/sgr.ts';
import type { OutputChunk } from './reporter.ts';

/** A line of a step's output without its line break. `continues`: the next line is the rest of it; `at`: of its end. */
export type OutputLine = Omit<OutputChunk, 'bytes'> & { readonly text: string; readonly continues?: true };

type Held = Omit<OutputChunk, 'bytes' | 'at'> & { readonly splitter: PieceSplitter; at?: number | null };

/** Splits the output of all steps into lines, for each stream of each step. A new attempt starts on a new line. */
export function createStepLines(carriageReturn: CarriageReturn) {
  const held = new Map<string, Map<OutputChunk['stream'], Held>>();
  return {
    push: (chunk: OutputChunk): readonly OutputLine[] => {
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

/** Keeps only text and colours of lines; colours end with the line and continue in the next one of their stream. */
export function createOutputColors(keepsColors = true) {
  const open = new Map<string, SgrState>();
  return {
    isolate: ({ step, stream, text }: OutputLine): string => {
      if (!keepsColors) return stripControls(text);
      const key = `${stream} ${step}`;
      const state = open.get(key) ?? new Map<string, string>();
      const line = isolateColors(keepColors(text), state);
      if (state.size > 0) open.set(key, state);
      else open.delete(key);
      return line;
    },
    /** Forgets the active colours of an attempt that has ended. */
    end: (step: string): void => {
      for (const stream of ['output', 'stdout', 'stderr']) open.delete(`${stream} ${step}`);
    },
  };
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

/** The fan-out of an instance, by its name in an event; null for any other step. */
export function fanOutNamed(nodes: NodesByName, name: string): Step | null {
  const node = nodes.get(name);
  return node?.fanOut === undefined || node.name === name ? null : node;
}
