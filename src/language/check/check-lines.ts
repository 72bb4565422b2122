import { shellCodeIndex } from '#core/words/shell-launch.ts';
import { type Path, type Problem, problem } from '../diagnostic.ts';
import { asList, type RawAction } from '../raw.ts';
import { type ActionEntry, actionEntries, defaultsEntries, spotIn, withoutIgnoring } from '../read/spec-file.ts';
import type { WorkflowFiles } from './check-workflow.ts';

/** A POSIX shell by any path, also behind `env`. */
const SHELL = /^(?:(?:\S*\/)?env\s+(?:-S\s+)?)?(?:\S*\/)?(?:ba|da|k|z|a)?sh(?:\s|$)/;
/** `-e` among the options of a shell or of `set`. */
const ENDS_AT_FAILURE = /\s-[a-zA-Z]*e|-o\s*errexit/;
/** A variable set to texts and variables, without a command. */
const ASSIGNMENT =
  /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=(?:\([^$`]*\)|(?:"(?:\\.|\$\(\([^()]*\)\)|\$(?!\()|[^"\\$`])*"|'[^']*'|\\.|\$\(\([^()]*\)\)|\$(?!\()|[^\s"'\\$`;&|()])*)(?:\s+#|$)/;
/** Lines that cannot fail, or whose failure says nothing: comments, output, settings, parts of a block. */
const HARMLESS =
  /^(?:#|:|(?:echo|printf|export|set|unset|trap|true|sleep|exit|return|break|continue|local|readonly|shift|then|else|fi|do|done|esac|[{}()])(?:\s|;|$)|[^()]*\)\s*$|;;|(?:function\s+)?[\w-]+\s*\(\)\s*$)/;
/** Lines that begin a block, and conditions. */
const OPENS = /^(?:if|elif|for|while|until|case|select)\b|(?:^|\s)[{(]\s*$/;
/** What follows the last line of a block, or of a part of it; or an end that says itself that something failed. */
const FOLLOWS_LAST = /^(?:(?:then|elif|else|fi|do|done|esac|[})])(?:\s|;|$|[|&<>])|;;|(?:exit|return)\s+[1-9])/;
/** Lines that say what happens if they fail, and the last one of a part of `case`. */
const CHECKED = /\|\||&&\s*(?:break|continue|exit|return)\b|&\s*$|;;\s*$/;

/** Notes once per file that lines of a script run after one that failed. `usual`: the shell of files without one. */
export function lineProblems({ root, base, files }: WorkflowFiles, usual: string): Problem[] {
  const shell = root.raw.shell || base?.raw.shell || usual;
  return files.flatMap((file) => {
    const own = [...actionEntries(file), ...defaultsEntries(file)].flatMap((entry) => longTexts(entry, shell));
    const [first, ...others] = withoutIgnoring(own, 'unchecked-lines', 1);
    if (first === undefined) return [];
    const { path, what, key, line } = first;
    const more = others.length === 0 ? '' : ` (${others.length} more like this)`;
    const message = `${what}: after a failure of "${line}" the lines below it still run${more}`;
    const help = 'Write "shell: bash -euo pipefail" at the top or in the step, or "set -e" as the first line.';
    return [problem('unchecked-lines', spotIn(file, [...path, ...key]), message, { severity: 'warning', help })];
  });
}

type LongText = ActionEntry & { readonly key: Path; readonly line: string };

/** The text of several lines of a step, if a shell without `-e` runs it. */
function longTexts(entry: ActionEntry, usual: string): LongText[] {
  if (entry.raw.executor !== undefined || entry.raw.container !== undefined) return [];
  const { key, text, shell } = shellText(entry.raw, usual);
  if (!SHELL.test(shell) || ENDS_AT_FAILURE.test(shell)) return [];
  const line = uncheckedLine(text);
  return line === null ? [] : [{ ...entry, key, line: line.length > 40 ? `${line.slice(0, 40)}...` : line }];
}

/** The text that a shell runs, and that shell. Beside a script, `command` is what runs it. */
function shellText({ script, command = '', shell }: RawAction, usual: string) {
  if (script !== undefined)
    return { key: ['script'], text: script, shell: asList(command).join(' ') || shell || usual };
  if (typeof command === 'string') return { key: ['command'], text: command, shell: shell || usual };
  const code = shellCodeIndex(command);
  const start = command.findIndex((word) => SHELL.test(word));
  const isOfShell = code >= 0 && start >= 0;
  return {
    key: ['command', code],
    text: command[code] ?? '',
    shell: isOfShell ? command.slice(start, code).join(' ') : '',
  };
}

/** Returns the first line whose failure does not end the script; null if a last line decides, or the script says `-e`. */
export function uncheckedLine(text: string): string | null {
  const lines = statements(text);
  if (/^#!/.test(text) && !SHELL.test(text.slice(2).trim())) return null;
  if (lines.some((line) => /^(?:set|#!)/.test(line) && ENDS_AT_FAILURE.test(line))) return null;
  const code = lines.filter((line) => !line.startsWith('#'));
  const found = code.find((line, index) => {
    const next = code[index + 1];
    const isLast = next === undefined || FOLLOWS_LAST.test(next);
    return !isLast && ![CHECKED, OPENS, HARMLESS, ASSIGNMENT].some((pattern) => pattern.test(line));
  });
  return found ?? null;
}

/** Escaped characters, comments, texts in quotes and lists: what a line end within them does not end. */
const UNITS = /\\[\s\S]|(?<![^\s;|&(])#[^\n]*|'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\w\+?=\([^()]*\)/g;

/** The lines of a script without blank ones and here-documents; continued lines are one. */
function statements(text: string): readonly string[] {
  const lines: string[] = [];
  let joins = false;
  const units = withoutDocuments(text).replace(UNITS, (unit) =>
    /^[\\#]/.test(unit) ? unit : unit.replace(/\n/g, ' '),
  );
  for (const line of units.split('\n').map((each) => each.trim())) {
    if (line === '') continue;
    if (joins) lines.push(`${lines.pop() ?? ''} ${line}`);
    else lines.push(line);
    joins = /(?:\\|&&|\||\|\|)$/.test(line) && !line.startsWith('#');
  }
  return lines;
}

function withoutDocuments(text: string): string {
  let end: string | null = null;
  const lines = text.split('\n').filter((line) => {
    if (end === null) {
      end = /<<-?\s*\\?(["']?)([\w.-]+)\1/.exec(line)?.[2] ?? null;
      return true;
    }
    if (line.trim() === end) end = null;
    return false;
  });
  return lines.join('\n');
}
