import type { Step, Template } from '../workflow.ts';
import { appendArgs } from './append-args.ts';
import { PATH } from './json-path.ts';
import { commandsOf, mayNest, sealNested, withoutQuotes } from './nested-shells.ts';
import { findLaunch } from './shell-launch.ts';
import { parseCommand } from './words.ts';

type Work = Pick<Step, 'command' | 'args'>;

/**
 * A step whose `args` hold the code of a shell that its `command` starts (`command: sh`, `args: [-c, CODE]`), with the
 * args up to the code moved into the command: no value becomes code there. Other steps unchanged.
 */
export function withCodeArgs({ command, args }: Work): Work {
  const unchanged = { command, args };
  if (command === null || args.length === 0 || !mayNest([command, args].flat(2).join(' '))) return unchanged;
  const words = typeof command === 'string' ? lastWords(command) : command;
  const code = findLaunch([...words, ...args])?.code ?? -1;
  if (code < words.length || code >= words.length + args.length) return unchanged;
  const count = code - words.length + 1;
  const [moved, rest] = [args.slice(0, count), args.slice(count)];
  if (typeof command !== 'string')
    return { command: [...command, ...moved.slice(0, -1), codeOf(moved.at(-1) ?? '')], args: rest };
  const quoted = moved.map(asWord);
  const text = `${command}`;
  const appended = parseCommand(text).kind === 'words' ? [text.trim(), ...quoted].join(' ') : appendArgs(text, quoted);
  return appended === null ? unchanged : { command: appended, args: rest };
}

/** The code of a template, for a shell that expands its variables; as written if that is impossible. */
function codeOf(template: Template): string {
  const { code } = sealNested(`sh -c ${asWord(template)}`, { isOwn: () => true, isSplit: true });
  const parsed = parseCommand(code);
  const word = parsed.kind === 'words' ? parsed.words[2] : undefined;
  return word?.every((piece) => typeof piece === 'string') ? word.join('') : template;
}

/** The words of the last command of a text. */
function lastWords(text: string): readonly string[] {
  const words = commandsOf(text).at(-1) ?? [];
  return words.map(({ start, end }) => withoutQuotes(text.slice(start, end)));
}

/** An escaped dollar, the dollar of a variable, and characters that are special in double quotes. */
const tokens = new RegExp(
  String.raw`(\\\$|\$(?=[A-Za-z_1-9]|\{(?:[A-Za-z_]\w*|[1-9]\d*)(?:${PATH})?(?:\}|:-)))|[\\"$\x60]`,
  'g',
);

/** A text with variables as a word of a command, in double quotes. */
function asWord(template: Template): string {
  return `"${template.replace(tokens, (token, kept?: string) => kept ?? `\\${token}`)}"`;
}
