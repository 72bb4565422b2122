import type { Writable } from 'node:stream';
import type { Outcome } from '#core/run/run.ts';
import { listWords } from '#core/words/command-args.ts';
import { expandWords, parseCommand } from '#core/words/words.ts';
import type { Json, JsonObject } from '#core/workflow.ts';
import { runProcess } from '#processes/programs.ts';
import type { Program } from '#processes/started-program.ts';
import type { Attempt } from './executor.ts';

/** Runs a program that may not be installed; if it is not, the outcome explains with `install` how to get it. */
export async function runTool(
  attempt: Attempt,
  program: Program,
  { install, feed }: { readonly install: string; readonly feed?: (input: Writable) => void },
): Promise<Outcome> {
  const outcome = await runProcess(attempt, program, feed);
  if (outcome.status !== 'failed' || !outcome.message.startsWith('command not found')) return outcome;
  return { ...outcome, message: `${outcome.message}: ${install}` };
}

/**
 * Replaces SIGTERM by SIGINT, for programs that clean up only after SIGINT. A SIGTERM that was set explicitly cannot be
 * distinguished from the default; for these programs there is no reason to set it.
 */
export function stoppedByInterrupt(attempt: Attempt): Attempt {
  const { step } = attempt;
  return step.signalOnStop === 'SIGTERM' ? { ...attempt, step: { ...step, signalOnStop: 'SIGINT' } } : attempt;
}

/** Whether an environment asks for colours. */
export function wantsColor({ FORCE_COLOR: force = '', NO_COLOR: no = '' }: Attempt['env']): boolean {
  return force !== '' && force !== '0' && force !== 'false' && no === '';
}

/** A checked config with variables replaced. Empty values count as absent. */
export type ToolSettings = {
  readonly text: (key: string) => string | null;
  /** A text counts as a list of one. */
  readonly texts: (key: string) => readonly string[];
  /** Sorted by name. */
  readonly entries: (key: string) => readonly (readonly [name: string, value: string])[];
  readonly isSet: (key: string) => boolean;
};

/** Reads the config of a tool executor. */
export function toolSettings(config: JsonObject, { expand }: Attempt): ToolSettings {
  const asText = (value: Json | undefined) =>
    typeof value === 'object' || value === undefined ? '' : expand(`${value}`);
  const asList = (value: Json | undefined) => (Array.isArray(value) ? value : [value]) as readonly (Json | undefined)[];
  return {
    text: (key) => asText(config[key]) || null,
    texts: (key) =>
      asList(config[key])
        .map(asText)
        .filter((text) => text !== ''),
    entries: (key) => sortedEntries(config[key]).map(([name, value]) => [name, asText(value)] as const),
    isSet: (key) => config[key] === true,
  };
}

/** A value with its texts expanded, and its keys if they may hold variables. */
export function expandTexts(value: Json, expand: (text: string) => string, expandKey = (key: string) => key): Json {
  if (typeof value === 'string') return expand(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: Json) => expandTexts(item, expand, expandKey));
  const entries = Object.entries(value as JsonObject);
  return Object.fromEntries(entries.map(([key, item]) => [expandKey(key), expandTexts(item, expand, expandKey)]));
}

/** The entries of an object sorted by name; none for other values. */
export function sortedEntries(value: Json | undefined): readonly (readonly [name: string, value: Json])[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
}

/** The words that a step's `command` and `args` add to its settings; null if `command` needs a shell. */
export function stepWords(attempt: Attempt): readonly string[] | null {
  const { step, scope, expand } = attempt;
  const args = step.args.map(expand);
  if (step.command === null) return args;
  if (typeof step.command !== 'string') return [...listWords(step.command, attempt), ...args];
  const parsed = parseCommand(step.command);
  return parsed.kind === 'words' ? [...expandWords(parsed.words, scope), ...args] : null;
}
