import { type Problem, problem } from '../diagnostic.ts';
import { type ActionEntry, actionEntries, defaultsEntries, spotIn } from '../read/spec-file.ts';
import type { WorkflowFiles } from './check-workflow.ts';

/** A POSIX shell by any path, also behind `env`. */
const SHELL = /^(?:\S*\/)?(?:env\s+(?:-S\s+)?)?(?:\S*\/)?(?:ba|da|k|z|a)?sh(?:\s|$)/;
/** `-e` among the options of a shell or of `set`. */
const ENDS_AT_FAILURE = /\s-[a-zA-Z]*e|-o\s*errexit/;
/** Lines that cannot fail, or whose failure says nothing: comments, assignments, output, settings, parts of a block. */
const HARMLESS =
  /^(?:#|:|[A-Za-z_]\w*=[^$`]*$|(?:echo|printf|export|set|unset|trap|true|sleep|exit|return|local|readonly|shift|then|else|fi|do|done|esac|[{}()])(?:\s|;|$)|[^()]*\)\s*$|;;)/;
const OPENS = /^(?:if|for|while|until|case|select)\b|(?:^|\s)[{(]\s*$/;
const CLOSES = /^(?:fi|done|esac|[})])(?:\s|;|$|[|&<>])/;

/** Notes once per file that lines of a script run after one that failed. `usual`: the shell of files without one. */
export function lineProblems({ root, base, files }: WorkflowFiles, usual: string): Problem[] {
  const shell = root.raw.shell || base?.raw.shell || usual;
  return files.flatMap((file) => {
    const own = [...actionEntries(file), ...defaultsEntries(file)].flatMap((entry) => longTexts(entry, shell));
    const [first, ...others] = own;
    if (first === undefined) return [];
    const { entry, key, line } = first;
    const more = others.length === 0 ? '' : ` (${others.length} more like this)`;
    const message = `${entry.what}: after a failure of "${line}" the lines below it still run${more}`;
    const help = 'Write "shell: bash -euo pipefail" at the top or in the step, or "set -e" as the first line.';
    return [problem('unchecked-lines', spotIn(file, [...entry.path, key]), message, { severity: 'warning', help })];
  });
}

type LongText = { readonly entry: ActionEntry; readonly key: string; readonly line: string };

/** The texts of several lines of a step that a shell runs without `-e`. Beside a script, `command` is what runs it. */
function longTexts(entry: ActionEntry, usual: string): LongText[] {
  const { script, command, ...raw } = entry.raw;
  if (raw.executor !== undefined || raw.container !== undefined) return [];
  const program = [command ?? ''].flat().join(' ');
  const shell = (script === undefined ? '' : program) || raw.shell || usual;
  if (!SHELL.test(shell) || ENDS_AT_FAILURE.test(shell)) return [];
  const texts = script !== undefined ? { script } : { command: typeof command === 'string' ? command : undefined };
  return Object.entries(texts).flatMap(([key, text]) => {
    const line = text === undefined ? null : uncheckedLine(text);
    return line === null ? [] : [{ entry, key, line: line.length > 40 ? `${line.slice(0, 40)}...` : line }];
  });
}

/** Returns the first line whose failure does not end the script; null if the last line decides, or the script says `-e`. */
export function uncheckedLine(text: string): string | null {
  const lines = statements(text);
  if (/^#!/.test(text) && !SHELL.test(text.slice(2).trim())) return null;
  if (lines.some((line) => /^(?:set|#!)/.test(line) && ENDS_AT_FAILURE.test(line))) return null;
  let depth = 0;
  for (const [index, line] of lines.entries()) {
    if (CLOSES.test(line)) depth -= 1;
    const isChecked = /\|\||&\s*$/.test(line);
    const isLast = lines.slice(index + 1).every((next) => /^#/.test(next));
    if (depth === 0 && !isLast && !isChecked && !OPENS.test(line) && !HARMLESS.test(line)) return line;
    if (OPENS.test(line) && !/\b(?:fi|done|esac)\s*$/.test(line)) depth += 1;
  }
  return null;
}

/** The lines of a script without blank ones and here-documents; continued lines are one. */
function statements(text: string): readonly string[] {
  const lines: string[] = [];
  let end: string | null = null;
  let joins = false;
  for (const line of text.split('\n').map((each) => each.trim())) {
    if (end !== null) {
      if (line === end) end = null;
      continue;
    }
    if (line === '') continue;
    if (joins) lines.push(`${lines.pop() ?? ''} ${line}`);
    else lines.push(line);
    joins = /(?:\\|&&|\||\|\|)$/.test(line) && !line.startsWith('#');
    end = /<<-?\s*(["']?)(\w+)\1/.exec(line)?.[2] ?? null;
  }
  return lines;
}
