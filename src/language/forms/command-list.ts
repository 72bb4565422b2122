import { isReservedWord, isShellWord } from '#core/words/shell-words.ts';
import { parseCommand } from '#core/words/words.ts';

/** What a list under `command` is; `unclear`: several commands, or one program whose path has a blank. */
export type ListKind = 'words' | 'commands' | 'unclear';

/** A first word without a path, followed by more: no program has such a name. */
const COMMAND = /^[^\s/$`'"]+\s/;
/** A path of which a folder may have a blank: `/opt/my app/run`. */
const FOLDER_WITH_BLANK = /^\S*\/\S*\s+\S*\//;

/**
 * Whether a list is the words of one command, as in Blackdagger and Dagu 1, or several commands. Only the name of a program
 * can be the first word of a command. `isDagu2`: other keys show that a list of the file is several commands.
 */
export function listKind(list: readonly string[], isDagu2: boolean): ListKind {
  const first = (list[0] ?? '').trim();
  if (!/\s/.test(first)) return 'words';
  if (COMMAND.test(first)) return 'commands';
  // The value of a variable may contain spaces; in a file of Dagu 2 such a word is a command all the same.
  if (/[$`]/.test(first) && !isDagu2) return 'words';
  return !FOLDER_WITH_BLANK.test(first) && list.every((text) => /\s/.test(text.trim())) ? 'commands' : 'unclear';
}

/** The code for a shell that runs commands one after another, each as if alone, and ends with the status of one that fails. */
export function oneAfterAnother(commands: readonly string[]): string {
  const texts = commands.map((text) => text.trim()).filter((text) => text !== '');
  if (texts.length < 2) return texts.join('');
  const parts = texts.map((text) => (isSimple(text) ? text : inSubshell(text)));
  // Before `&&`, a shell with the option `-e` would not end at the first command of several that fails.
  const isOfSeveral = texts.some((text) => /[;\n{]/.test(text) || isReservedWord(firstWord(text)));
  return parts.join(isOfSeveral ? '; case $? in 0) ;; *) exit $?;; esac; ' : ' && ');
}

/** Whether a text changes nothing of the shell, and can be followed by `&&`. */
function isSimple(text: string): boolean {
  if (parseCommand(text).kind === 'words') return true;
  return !/[;&#\n<(){}`\\]|\|\|/.test(text) && !isShellWord(firstWord(text)) && !/^\w+\+?=/.test(text);
}

function firstWord(text: string): string {
  return /^\S*/.exec(text)?.[0] ?? '';
}

function inSubshell(text: string): string {
  return /[\n#\\]|<</.test(text) ? `(${text}\n)` : `(${text})`;
}

/** Whether a text has several lines, operators of a shell or several words, the first of which names no folder by a variable. */
export function isCommandText(run: string): boolean {
  const text = run.trim();
  return /[\n|&;<>]|\$\(/.test(text) || (/^[^\s$`]+\s/.test(text) && !/\.ya?ml$/.test(text));
}
