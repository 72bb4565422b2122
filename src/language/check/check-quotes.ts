import { scanShell } from '#core/words/shell-scan.ts';
import type { Path, Problem } from '../problem.ts';
import { problem } from '../problem.ts';
import { executorType, type TextOrList } from '../raw.ts';
import type { SpecFile } from '../read/spec-file.ts';
import { actionEntries } from './step/action-entries.ts';

/** Executors that split the text of a command into words, or pass it to a shell. */
const splitting: ReadonlySet<string> = new Set(['command', 'docker', 'ssh', 'terraform', 'ansible']);

const posixShell = /^(?:\S*\/)?(?:a|ba|da|k|mk|z)?sh(?:\s|$)/;

/** Constructs of some shells in which a quote has another meaning: `$'it\'s'`, and `<<` as a bit shift. */
const uncertain = /\$'|\(\(.*<</;

type Command = { readonly file: SpecFile; readonly path: Path; readonly what: string; readonly text: TextOrList };

/**
 * Reports commands with an unclosed quote, which every POSIX shell refuses. `settings` are the base and the root,
 * `files` all files with steps, handlers or functions.
 */
export function quoteProblems(settings: readonly SpecFile[], files: readonly SpecFile[]): Problem[] {
  const shell = settings.flatMap(({ raw }) => raw.shell ?? []).at(-1) ?? 'sh';
  return files.flatMap((file) => [...commandsOf(file, shell), ...functionCommands(file, shell)]).flatMap(openQuote);
}

function commandsOf(file: SpecFile, shell: string): Command[] {
  return actionEntries(file).flatMap(({ path, raw, what }) => {
    const isSplit = splitting.has(executorType(raw)) && posixShell.test(raw.shell ?? shell);
    return raw.command !== undefined && isSplit ? [{ file, path: [...path, 'command'], what, text: raw.command }] : [];
  });
}

/** A function runs in the shell of the step that calls it. */
function functionCommands(file: SpecFile, shell: string): Command[] {
  if (file.raw.functions === undefined) return [];
  const isPosix = [shell, ...actionEntries(file).flatMap(({ raw }) => raw.shell ?? [])].every((text) =>
    posixShell.test(text),
  );
  if (!isPosix) return [];
  return file.raw.functions.flatMap(({ name = '', command }, index) => {
    const path = ['functions', index, 'command'];
    return command === undefined ? [] : [{ file, path, what: `function "${name}"`, text: command }];
  });
}

function openQuote({ file, path, what, text }: Command): Problem[] {
  if (typeof text !== 'string' || !/['"]/.test(text) || uncertain.test(text)) return [];
  const at = scanShell(text).openQuote;
  if (at === null) return [];
  const quote = text.charAt(at);
  const kind = quote === "'" ? 'single' : 'double';
  const before = text.slice(0, at).split('\n').at(-1)?.slice(-20) ?? '';
  const spot = { source: file.source, path, part: 'value', word: { at, text: quote } } as const;
  return [
    problem('open-quote', spot, `${what}: the ${kind} quote after ${JSON.stringify(before)} is not closed`, {
      label: 'opened here',
      help: `Close it, or write \\${quote} for the character itself.`,
    }),
  ];
}
