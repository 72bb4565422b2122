import { withCodeArgs } from '#core/words/command-args.ts';
import { splitBackticks } from '#core/words/interpolate.ts';
import { listProblem, mayNest, type NestedProblem, nestedMessage, sealNested } from '#core/words/nested-shells.ts';
import { scanShell } from '#core/words/shell-scan.ts';
import { bareNames } from '#core/words/shell-words.ts';
import { parseCommand } from '#core/words/words.ts';
import { type Path, type Problem, problem } from '../diagnostic.ts';
import {
  asList,
  assignments,
  entriesAt,
  executorType,
  type RawAction,
  type RawCondition,
  secretNames,
  type TextOrList,
  textsIn,
} from '../raw.ts';
import { type ActionEntry, actionEntries, defaultsEntries, type SpecFile, spotIn } from '../read/spec-file.ts';
import { declaredNames } from './check-references.ts';

/** Executors that split the text of a command into words, or pass it to a shell. */
const splitting: ReadonlySet<string> = new Set(['command', 'docker', 'ssh', 'terraform', 'ansible']);

const POSIX_SHELL = /^(?:\S*\/)?(?:a|ba|da|k|mk|z)?sh(?:\s|$)/;

/** Constructs of some shells in which a quote has another meaning: `$'it\'s'`, and `<<` as a bit shift. */
const UNCERTAIN = /\$'|\(\(.*<</;

type Command = { readonly file: SpecFile; readonly path: Path; readonly what: string; readonly text: TextOrList };

/** Reports commands with an unclosed quote, which every POSIX shell refuses. `settings`: the base and the root. */
export function quoteProblems(settings: readonly SpecFile[], files: readonly SpecFile[]): Problem[] {
  const shell = settings.flatMap(({ raw }) => raw.shell ?? []).at(-1) ?? 'sh';
  return files.flatMap((file) => [...commandsOf(file, shell), ...functionCommands(file, shell)]).flatMap(openQuote);
}

function commandsOf(file: SpecFile, shell: string): Command[] {
  return actionEntries(file).flatMap(({ path, raw, what }) => {
    const isSplit = splitting.has(executorType(raw)) && POSIX_SHELL.test(raw.shell ?? shell);
    return raw.command !== undefined && isSplit ? [{ file, path: [...path, 'command'], what, text: raw.command }] : [];
  });
}

/** A function runs in the shell of the step that calls it. */
function functionCommands(file: SpecFile, shell: string): Command[] {
  if (file.raw.functions === undefined) return [];
  const isPosix = [shell, ...actionEntries(file).flatMap(({ raw }) => raw.shell ?? [])].every((text) =>
    POSIX_SHELL.test(text),
  );
  if (!isPosix) return [];
  return file.raw.functions.flatMap(({ name = '', command }, index) => {
    const path = ['functions', index, 'command'];
    return command === undefined ? [] : [{ file, path, what: `function "${name}"`, text: command }];
  });
}

function openQuote({ file, path, what, text }: Command): Problem[] {
  if (typeof text !== 'string' || !/['"]/.test(text) || UNCERTAIN.test(text)) return [];
  const at = scanShell(text).openQuote;
  if (at === null) return [];
  const quote = text.charAt(at);
  const kind = quote === "'" ? 'single' : 'double';
  const before = text.slice(0, at).split('\n').at(-1)?.slice(-20) ?? '';
  const spot = { source: file.source, path, part: 'value', word: { at, text: quote } } as const;
  const message = `${what}: the ${kind} quote after ${JSON.stringify(before)} is not closed`;
  const help = `Close it, or write \\${quote} for the character itself.`;
  return [problem('open-quote', spot, message, { label: 'opened here', help })];
}

/** Warns of JSON paths in a script: it is passed to its interpreter unchanged, and no shell supports them. */
export function scriptPathProblems({ file, path, raw }: ActionEntry): Problem[] {
  if (raw.script === undefined || !isForShell(raw)) return [];
  const [first] = scanShell(raw.script).paths.filter((found) => found.path.startsWith('.'));
  if (first === undefined) return [];
  const reference = `\${${first.name}${first.path}}`;
  const message = `"${reference}" in a script is not replaced`;
  const help = `Give it a variable of the step: env: [{VALUE: "${reference}"}].`;
  return [problem('unreplaced-path', spotIn(file, [...path, 'script']), message, { severity: 'warning', help })];
}

function isForShell(raw: ActionEntry['raw']): boolean {
  const { script = '', command } = raw;
  if (!['command', 'docker', 'ssh'].includes(executorType(raw))) return false;
  const [first = ''] = asList(command);
  const interpreter = command === undefined ? (/^#![^\n]*/.exec(script)?.[0] ?? 'sh') : first;
  return /(?:^|[/ ])(?:a|ba|da|k|mk|z)?sh(?: |$)/.test(interpreter);
}

/** Executors whose command is split into words or passed to a shell. */
const starting: ReadonlySet<string> = new Set(['command', 'docker', 'ssh']);

/** A text and its place. `isSplit`: a command, which is split into words if it needs no shell. */
type Text = { readonly path: Path; readonly text: string; readonly isSplit?: boolean };
type Scope = { readonly file: SpecFile; readonly what: string; readonly isDeclared: (name: string) => boolean };

/** Reports variables in the code of nested shells (`sh -c "... $X"`) whose values would become code. */
export function nestedShellProblems(settings: readonly SpecFile[], files: readonly SpecFile[]): Problem[] {
  let names: ReadonlySet<string> | null = null;
  const isDeclared = (name: string) => {
    names ??= new Set([
      ...declaredNames(settings, files.flatMap(actionEntries)),
      ...settings.flatMap(({ raw }) => secretNames(raw)),
    ]);
    return names.has(name);
  };
  return [
    ...settings.flatMap((file) =>
      ofTexts([...settingTexts(file.raw), ...commandsIn(file.raw.workingDir, ['workingDir'])], {
        file,
        what: 'the workflow',
        isDeclared,
      }),
    ),
    ...files.flatMap((file) => [
      ...[...actionEntries(file), ...defaultsEntries(file)].flatMap((entry) =>
        entry.hasDollar ? ofAction(entry, isDeclared) : [],
      ),
      ...(file.raw.functions ?? []).flatMap((raw, index) => {
        const scope = { file, what: `function "${raw.name ?? ''}"`, isDeclared };
        return ofWork({ args: [], ...raw }, ['functions', index], scope);
      }),
    ]),
  ];
}

function ofAction(entry: ActionEntry, isDeclared: Scope['isDeclared']): Problem[] {
  const { file, path, raw, what } = entry;
  const scope = { file, what, isDeclared };
  return [
    ...(starting.has(executorType(raw)) ? ofWork({ ...raw, args: asList(raw.args) }, path, scope) : []),
    ...ofTexts([...settingTexts(raw, path), ...actionTexts(raw, path)], scope),
  ];
}

type Work = Pick<RawAction, 'command' | 'script'> & { readonly args: readonly string[] };

function ofWork({ command: given, args, script }: Work, path: Path, scope: Scope): Problem[] {
  if (script !== undefined) return ofScript(script, path, scope);
  const raw = given ?? null;
  const { command } = withCodeArgs({ command: raw, args });
  if (command === null) return [];
  const key = command === raw ? [...path, 'command'] : [...path, 'args'];
  if (typeof command === 'string') return ofTexts([{ path: key, text: command, isSplit: true }], scope);
  const found = listProblem(command, scope.isDeclared);
  return found === null ? [] : [nested(found, { path: key, text: '' }, scope)];
}

/** A script is passed to its interpreter unchanged. */
function ofScript(script: string, path: Path, { file, what, isDeclared }: Scope): Problem[] {
  const { code, problems } = sealNested(script, { isOwn: isDeclared, isDeclared });
  if (code === script && problems.every(({ kind }) => kind === 'position')) return [];
  const message = `${what}: a variable in the code of a nested shell ("sh -c") of the script becomes a part of that code`;
  const help = `Pass the value as an argument: ${withArgument('sh', '$NAME')}`;
  return [problem('nested-shell', spotIn(file, [...path, 'script']), message, { severity: 'warning', help })];
}

/** The commands in texts of a workflow, step or handler that `wf` evaluates. */
function settingTexts(
  { env, params, preconditions }: Pick<RawAction, 'env' | 'preconditions'> & { readonly params?: unknown },
  path: Path = [],
): Text[] {
  return [
    ...assignments(env).flatMap(({ value, path: way }) => substituted(value, [...path, 'env', ...way])),
    ...commandsIn(params, [...path, 'params']),
    ...entriesAt<RawCondition>(preconditions, [...path, 'preconditions']).flatMap((item) =>
      ofCondition(item.entry, item.path),
    ),
  ];
}

function actionTexts(raw: ActionEntry['raw'], path: Path): Text[] {
  const { dir, stdout, stderr, parallel, matrix, repeatPolicy, service } = raw;
  const probe = typeof service === 'object' ? service.readyWhen?.command : undefined;
  return [
    ...commandsIn({ dir, stdout, stderr, parallel, matrix }, path),
    ...(repeatPolicy === undefined ? [] : ofCondition(repeatPolicy, [...path, 'repeatPolicy'])),
    ...(probe === undefined ? [] : [{ path: [...path, 'service', 'readyWhen', 'command'], text: probe }]),
  ];
}

function ofCondition(item: RawCondition, path: Path): Text[] {
  if (typeof item === 'string') return [{ path, text: item }];
  const { condition = '', expected } = item;
  const conditionPath = [...path, 'condition'];
  return expected === undefined ? [{ path: conditionPath, text: condition }] : substituted(condition, conditionPath);
}

/** The commands in every text within a value. */
function commandsIn(value: unknown, path: Path): Text[] {
  return textsIn(value, path).flatMap((found) => substituted(found.text, found.path));
}

function substituted(text: string, path: Path): Text[] {
  if (!mayNest(text)) return [];
  return splitBackticks(text).flatMap((part) => ('command' in part ? [{ path, text: part.command }] : []));
}

function ofTexts(texts: readonly Text[], scope: Scope): Problem[] {
  return texts.flatMap((found) => {
    const { text, isSplit = false } = found;
    if (!mayNest(text)) return [];
    const { isDeclared } = scope;
    const local = bareNames(text);
    const isWords = isSplit && parseCommand(text).kind === 'words';
    const isOwn = (name: string) => isWords || isDeclared(name) || !local.has(name);
    const { problems } = sealNested(text, { isOwn, isDeclared, isSplit: isWords });
    return problems.map((one) => nested(one, found, scope));
  });
}

function nested(found: NestedProblem, { path, text }: Text, { file, what }: Scope): Problem {
  const word = { at: text.indexOf(found.reference, found.at), text: found.reference };
  const spot = { source: file.source, path, part: 'value', ...(word.at < 0 ? {} : { word }) } as const;
  const severity = found.kind === 'unknown' ? 'warning' : 'error';
  return problem('nested-shell', spot, `${what}: ${nestedMessage(found)}`, { severity, help: helpFor(found) });
}

function helpFor({ kind, reference, shell, launcher }: NestedProblem): string {
  const argument = withArgument(shell, reference);
  switch (kind) {
    case 'whole':
      return `Put the code into "script:". To run the text of a variable as code, write: eval "${reference}"`;
    case 'cleared':
      return launcher === 'sudo'
        ? `Write "sudo -E", or pass the value as an argument: sudo ${argument}`
        : `Pass the value as an argument: ${argument}`;
    case 'complex':
      return `Put the code in single quotes, so that "${shell}" expands it, or write "script:".`;
    case 'position':
    case 'changed':
    case 'unknown':
      return `Pass the value as an argument: ${argument}`;
  }
}

/** A command that passes a value to the code of a shell as data. */
function withArgument(shell: string, reference: string): string {
  return `${shell} -c 'echo "$1"' _ "${reference}"`;
}
