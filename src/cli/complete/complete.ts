import type { Command } from 'commander';
import { controlCharacters, escapeControls } from '#render/text.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Console } from '../terminal/console.ts';
import { type Candidate, type Candidates, type Expected, expectedAt, nothing, plain } from './expected.ts';

/** The options of `wf complete`. */
export type CompleteOptions = {
  /** The arguments of the program; the last one is at the cursor. */
  readonly words: readonly string[];
  /** Instead of them: the typed line up to the cursor. */
  readonly line?: string;
  /** With a line: the shell's word at the cursor, which `=` and `:` may have cut. */
  readonly word?: string;
};

const LONGEST_DESCRIPTION = 70;

/**
 * Prints the kind of files that the shell offers too (`none`, `files`, `yaml`, `directories`), then a line for each candidate:
 * value, tab, description. Exit code 1 without candidates; a completion prints no errors.
 */
export async function completeCommand(options: CompleteOptions, program: Command, { out }: Console): Promise<number> {
  const words = options.line === undefined ? options.words : wordsOfLine(options.line).slice(1);
  const current = words.at(-1) ?? '';
  const { files, values } = await candidatesFor(program, words);
  const cut = options.word === undefined ? 0 : lengthBefore(current, wordsOfLine(options.word).at(-1) ?? '');
  const meant = values.filter((candidate) => isMeant(candidate, current) && candidate.value.length > cut);
  const lines = meant.map((each) => lineOf(each, cut));
  out.write([files, ...lines].map((line) => `${line}\n`).join(''));
  return files === 'none' && lines.length === 0 ? exitCodes.failed : exitCodes.succeeded;
}

async function candidatesFor(program: Command, words: readonly string[]): Promise<Candidates> {
  try {
    return await findCandidates(expectedAt(program, words), program);
  } catch {
    return nothing;
  }
}

/** Leaves out names that cannot be typed (control characters) or that look like an option (a leading dash). */
function isMeant({ value }: Candidate, current: string): boolean {
  const isOption = value.startsWith('-') && !current.startsWith('-');
  return !isOption && value.startsWith(current) && !controlCharacters().test(value);
}

/** The length of the part that the shell has cut off and puts before the value itself. */
function lengthBefore(current: string, shellWord: string): number {
  // At a separator the value follows it.
  const kept = /^[=:]$/.test(shellWord) ? '' : shellWord;
  if (!current.endsWith(kept)) return 0;
  const length = current.length - kept.length;
  // Bash ends a word here too, but replaces the separator by the value.
  return current[length - 1] === '@' ? length - 1 : length;
}

function lineOf({ value, description }: Candidate, cut: number): string {
  const [first = ''] = description.split('\n');
  const text = escapeControls(first.replace(/\s+/g, ' ').trim());
  const shown = text.length > LONGEST_DESCRIPTION ? `${text.slice(0, LONGEST_DESCRIPTION - 3)}...` : text;
  return shown === '' ? value.slice(cut) : `${value.slice(cut)}\t${shown}`;
}

/** All candidates; the shell filters them by the typed prefix. */
async function findCandidates(expected: Expected, program: Command): Promise<Candidates> {
  switch (expected.type) {
    case 'nothing':
      return nothing;
    case 'command':
      return { files: 'none', values: commandNames(program, expected.word) };
    case 'option':
      return { files: 'none', values: optionNames(expected.command) };
    case 'value': {
      const { value, before } = expected;
      if (value.choices.length > 0)
        return { files: 'none', values: value.choices.map((choice) => plain(before + choice)) };
      const { findValues } = await import('./values.ts');
      const { files, values } = await findValues(expected);
      return { files, values: values.map((each) => ({ ...each, value: before + each.value })) };
    }
  }
}

/** Aliases of commands are offered only if their first letters are typed. */
function commandNames(program: Command, word: string): readonly Candidate[] {
  const commands = program.createHelp().visibleCommands(program);
  return commands.flatMap((command) => {
    const names = word === '' ? [command.name()] : [command.name(), ...command.aliases()];
    return names.map((value) => ({ value, description: command.description() }));
  });
}

function optionNames(command: Command): readonly Candidate[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .map(({ long, short, description }) => ({ value: long ?? short ?? '', description }));
}

/** Splits a typed line up to the cursor into words, as a POSIX shell does; the last word is empty after a space. */
function wordsOfLine(line: string): readonly string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quote: '"' | "'" | null = null;
  for (let at = 0; at < line.length; at++) {
    const character = line[at] ?? '';
    if (quote === null && /\s/.test(character)) {
      if (word !== null) words.push(word);
      word = null;
      continue;
    }
    word ??= '';
    if (character === '\\' && quote !== "'") {
      at += 1;
      word += unescaped(line[at] ?? '', quote);
    } else if (character === quote) quote = null;
    else if (quote === null && (character === '"' || character === "'")) quote = character;
    else word += character;
  }
  return [...words, word ?? ''];
}

/** In double quotes a backslash is literal before most characters. */
function unescaped(character: string, quote: '"' | "'" | null): string {
  return quote === null || '"\\$`'.includes(character) ? character : `\\${character}`;
}
