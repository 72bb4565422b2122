import type { Command, Option } from 'commander';

/** The kinds of completion at the cursor. */
export type Expected =
  | { readonly type: 'command'; readonly word: string }
  | { readonly type: 'option'; readonly command: Command }
  | {
      readonly type: 'value';
      /** By its name in the command line: `--step <name>`, or `run` for an argument. */
      readonly value: { readonly name: string; readonly choices: readonly string[] };
      readonly given: Given;
      /** The part of the word before the value, as in `--format=`. */
      readonly before: string;
      readonly word: string;
    }
  | { readonly type: 'nothing' };

/** The parsed words before the cursor. */
export type Given = {
  /** Arguments by name; of a variadic one the last. */
  readonly arguments: ReadonlyMap<string, string>;
  /** Values of options by their long names without the dashes. */
  readonly options: ReadonlyMap<string, string>;
};

/** Returns the kind of completion for the last argument of the program, which may be empty. */
export function expectedAt(program: Command, words: readonly string[]): Expected {
  const current = words.at(-1) ?? '';
  const [name, ...before] = words.slice(0, -1);
  if (name === undefined && current.startsWith('-')) return { type: 'option', command: program };
  if (name === undefined || (name === 'help' && before.length === 0)) return { type: 'command', word: current };
  const command = program.commands.find((each) => each.name() === name || each.aliases().includes(name));
  if (command === undefined) return { type: 'nothing' };
  const read = readWords(command, before);
  if (read.open !== null) return optionValue(read.open, read.given, { before: '', word: current });
  const isOption = !read.isPlain && current.startsWith('-');
  if (!isOption) return argumentAt(command, read, current);
  const [, flag = current, word] = /^(--[^=]+)=(.*)$/s.exec(current) ?? [];
  if (word === undefined) return { type: 'option', command };
  const option = findOption(command, flag);
  return option?.required ? optionValue(option, read.given, { before: `${flag}=`, word }) : { type: 'nothing' };
}

/** The name under which the values of an option are looked up: `--step <name>`. */
function optionValue(option: Option, given: Given, text: { before: string; word: string }): Expected {
  const [value = ''] = /[<[][^>\]]*[>\]]/.exec(option.flags) ?? [];
  const name = `${option.long ?? option.short ?? ''} ${value}`;
  return { type: 'value', value: { name, choices: option.argChoices ?? [] }, given, ...text };
}

function argumentAt(command: Command, { given, count }: ReturnType<typeof readWords>, word: string): Expected {
  const last = command.registeredArguments.at(-1);
  const argument = command.registeredArguments[count] ?? (last?.variadic ? last : undefined);
  if (argument === undefined) return { type: 'nothing' };
  const value = { name: argument.name(), choices: argument.argChoices ?? [] };
  return { type: 'value', value, given, before: '', word };
}

/** `open`: the option whose value comes next; `isPlain`: after `--`, so that no word is an option. */
function readWords(command: Command, words: readonly string[]) {
  const given = { arguments: new Map<string, string>(), options: new Map<string, string>() };
  let count = 0;
  let open: Option | null = null;
  let isPlain = false;
  for (const word of words) {
    if (open !== null) {
      given.options.set(open.name(), word);
      open = null;
    } else if (!isPlain && word === '--') {
      isPlain = true;
    } else if (!isPlain && word.startsWith('-') && word !== '-') {
      open = readOption(command, word, given.options);
    } else {
      const argument = command.registeredArguments[Math.min(count, command.registeredArguments.length - 1)];
      if (argument !== undefined) given.arguments.set(argument.name(), word);
      count += 1;
    }
  }
  return { given, count, open, isPlain };
}

/** Records the value of `--option=value`; returns an option whose value is the next word. */
function readOption(command: Command, word: string, values: Map<string, string>): Option | null {
  const [, name = word, value] = /^(--[^=]+)=(.*)$/s.exec(word) ?? [];
  const option = findOption(command, name);
  if (option === undefined || !option.required) return null;
  if (value === undefined) return option;
  values.set(option.name(), value);
  return null;
}

function findOption(command: Command, flag: string): Option | undefined {
  return command.options.find(({ long, short }) => long === flag || short === flag);
}

/** One completion of a word. */
export type Candidate = { readonly value: string; readonly description: string };

type FileKind = 'none' | 'files' | 'yaml' | 'directories';

/** The completions at the cursor. */
export type Candidates = { readonly files: FileKind; readonly values: readonly Candidate[] };

/** No completion. */
export const nothing: Candidates = { files: 'none', values: [] };

/** Creates a candidate without a description. */
export function plain(value: string): Candidate {
  return { value, description: '' };
}
