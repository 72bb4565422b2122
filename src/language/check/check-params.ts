import { exactJsonObject } from '#core/data/exact-json.ts';
import { didYouMean, nearNames } from '#system/near-names.ts';
import { jsonParams } from '../build/build-step.ts';
import { declarationFaults, declaredParam, isDeclaration, nearDeclarationKey } from '../declared-params.ts';
import { type Path, type Problem, problem, type Source } from '../diagnostic.ts';
import { isCommandText } from '../forms/command-list.ts';
import { looseQuotes, parseParamDefaults } from '../params.ts';
import { entriesAt, isList, type OpenTextMap, type OpenTexts, VARIABLE_NAME } from '../raw.ts';
import { type ActionEntry, actionEntries, type SpecFile, spotIn } from '../read/spec-file.ts';
import { canonicalKey } from '../schema/schema-type.ts';
import { jsonMistake } from './check-constants.ts';

/** A part of `params` with a position of its own: the text, an entry of the list, or the map. */
type Part = { readonly path: Path; readonly content: string | OpenTextMap; readonly isEntry: boolean };

/** Checks the parameters of a file: names, which become variables, declarations, and quotes of values. */
export function paramProblems(file: SpecFile): Problem[] {
  const { params } = file.raw;
  if (params === undefined) return [];
  const isEntry = isList(params);
  const entries = entriesAt<Part['content']>(params, ['params']);
  const parts = entries.map(({ path, entry }): Part => ({ path, content: entry, isEntry }));
  return [
    ...parts.flatMap((part) =>
      namesOf(part).flatMap((name) => {
        if (VARIABLE_NAME.test(name)) return [];
        return [problem('invalid-name', spotIn(file, part.path), `"${name}" is not the name of a parameter`)];
      }),
    ),
    ...repeatedNames(file, parts),
    ...parts.flatMap(({ path, content }) => (typeof content === 'string' ? [] : entryProblems(file, path, content))),
    ...parts.flatMap(({ path, content }) => {
      if (typeof content !== 'string') return [];
      const where = { source: file.source, path, text: content, subject: '"params"' };
      return jsonProblems(where) ?? paramTextProblems(where, isEntry);
    }),
  ];
}

/** Reports the faults of a declaration at the key that has them; `what` names it in messages, such as `parameter "A"`. */
export function declarationProblems(file: SpecFile, path: Path, what: string, entry: OpenTextMap): Problem[] {
  return declarationFaults(entry).map(({ key, message, isKey, near = [], help = null }) => {
    const written = Object.keys(entry).find((name) => key !== null && canonicalKey(name) === canonicalKey(key)) ?? key;
    const spot = spotIn(file, written === null ? path : [...path, written], isKey === true ? 'key' : 'value');
    const code = isKey === true ? 'unknown-key' : 'wrong-value';
    return problem(code, spot, `${what}: ${message}`, { label: didYouMean(near), help });
  });
}

function namesOf({ content, isEntry }: Part): string[] {
  const params: string | OpenTexts = typeof content === 'string' && !isEntry ? content : [content];
  return parseParamDefaults(params).flatMap(({ name }) => name ?? []);
}

/** Only the last of several values of a name is used. Twice the same key in one map was reported before. */
function repeatedNames(file: SpecFile, parts: readonly Part[]): Problem[] {
  const firsts = new Map<string, Part>();
  return parts.flatMap((part) =>
    namesOf(part).flatMap((name) => {
      const first = firsts.get(name);
      if (first === undefined) firsts.set(name, part);
      return first === undefined ? [] : [repeatedName(file, name, first, part)];
    }),
  );
}

function repeatedName(file: SpecFile, name: string, first: Part, part: Part): Problem {
  const related =
    first === part ? [] : [{ spot: spotIn(file, first.path), message: `"${name}" is declared here first` }];
  const mixes = [first, part].some(({ content }) => typeof content !== 'string' && isDeclaration(content));
  return problem('duplicate-key', spotIn(file, part.path), `parameter "${name}" is declared twice`, {
    severity: mixes ? 'error' : 'warning',
    related,
    help: mixes ? 'Remove one of them.' : 'Remove one of them: the last one is used.',
  });
}

function entryProblems(file: SpecFile, path: Path, entry: OpenTextMap): Problem[] {
  if (!isDeclaration(entry)) {
    return Object.entries(entry).flatMap(([name, value]) => {
      if (typeof value !== 'object' || value === null) return separateParam(file, path, entry, name);
      const kind = Array.isArray(value) ? 'a list' : 'a map';
      const help = `To list the values that it takes, write "- {name: ${name}, enum: [...]}".`;
      const message = `"${name}" in "params" must be text, not ${kind}`;
      return [problem('wrong-type', spotIn(file, [...path, name]), message, { label: 'expected text', help })];
    });
  }
  const faults = declarationProblems(file, path, `parameter "${String(entry['name'])}"`, entry);
  if (faults.length > 0 || !isScheduled(file) || declaredParam(entry).rule?.required !== true) return faults;
  const message = `parameter "${String(entry['name'])}" is required, but a scheduled run is started without parameters`;
  return [problem('wrong-value', spotIn(file, path), message, { help: 'Give it a "default", or remove "schedule".' })];
}

/** Warns about a key like those of declarations in a map that has no other declaration keys. */
function separateParam(file: SpecFile, path: Path, entry: OpenTextMap, key: string): Problem[] {
  const near = key === 'name' || typeof entry['name'] !== 'string' ? null : nearDeclarationKey(key);
  if (near === null) return [];
  const message = `"${key}" is a parameter of its own, as is "name"`;
  const help = `A declaration has a "name" and other keys, such as "${near}".`;
  const options = { severity: 'warning', label: didYouMean([near]), help } as const;
  return [problem('wrong-value', spotIn(file, [...path, key], 'key'), message, options)];
}

function isScheduled({ raw: { schedule } }: SpecFile): boolean {
  if (schedule === undefined) return false;
  return typeof schedule === 'string' || Array.isArray(schedule) || 'start' in schedule || 'restart' in schedule;
}

/** A JSON object in a text, which is read as several words; null for any other text. */
function jsonProblems({ source, path, text }: ParamText): Problem[] | null {
  if (!/^\s*\{/.test(text) || !/\s/.test(text.trim()) || jsonMistake(text) !== null) return null;
  const message = '"params" is a JSON object in a text, whose words are the parameters';
  const help = 'Remove the quotes around it: a map declares its keys.';
  return [problem('wrong-value', { source, path, part: 'value' }, message, { severity: 'warning', help })];
}

/** A text of parameters in a file; `subject` names it in messages. */
type ParamText = {
  readonly source: Source;
  readonly path: Path;
  readonly text: string;
  readonly subject: string;
};

/**
 * Warns about quotes and commas that belong to a value. `isOne`: the text is a single parameter, of which only the first
 * quote can be meant to enclose the value.
 */
function paramTextProblems(where: ParamText, isOne: boolean): Problem[] {
  const quotes = looseQuotes(where.text).filter(({ isFirst }) => isFirst || !isOne);
  return [...quotes.map(({ at }) => looseQuote(where, at)), ...(isOne ? [] : commaProblems(where))];
}

/** `A=1, B=2`: words are separated by blanks, so that a comma belongs to the value before it. */
function commaProblems({ source, path, text, subject }: ParamText): Problem[] {
  const [list] = /^\s*[A-Za-z_]\w*=[^\s"'`]*,\s+[A-Za-z_]\w*=/.exec(text) ?? [];
  if (list === undefined) return [];
  const spot = { source, path, part: 'value', word: { at: list.lastIndexOf(','), text: ',' } } as const;
  const options = { severity: 'warning', help: 'Separate parameters with spaces alone.' } as const;
  return [problem('wrong-value', spot, `${subject}: the comma is part of the value`, options)];
}

function looseQuote({ source, path, text, subject }: ParamText, at: number): Problem {
  const quote = text.charAt(at);
  const kind = quote === "'" ? 'single' : 'double';
  const name = /\S*$/.exec(text.slice(Math.max(0, at - 20), at))?.[0] ?? '';
  const where = name === '' ? `before "${text.slice(at + 1, at + 20).split(/\s/, 1)[0]}"` : `after "${name}"`;
  const next = text.indexOf(quote, at + 1);
  const isClosed = next !== -1 && /\S/.test(text.charAt(next - 1));
  const what = isClosed ? 'does not enclose the whole value' : 'is not closed';
  const spot = { source, path, part: 'value', word: { at, text: quote } } as const;
  return problem('open-quote', spot, `${subject}: the ${kind} quote ${where} ${what}, so it is part of the value`, {
    severity: 'warning',
    label: 'part of the value',
    help: isClosed ? 'End the value with the closing quote.' : 'Close it, or remove it.',
  });
}

/** The workflows that a `run` of these files can name. */
export type RunTargets = {
  readonly exists: (name: string) => boolean;
  /** Names to suggest in place of an unknown one. */
  readonly names: () => readonly string[];
  /** The path of a workflow of that name in a folder nearby, which a daemon may have as workflows directory; null: none. */
  readonly nearby: (name: string) => string | null;
};

/** A path or the name of a file, which an earlier step may write. */
const FILE_NAME = /\/|\.ya?ml$|^~/i;

/** Reports a `run` of a workflow that does not exist; a warning if it may exist when the step runs. */
export function runProblems(files: readonly SpecFile[], { exists, names, nearby }: RunTargets): Problem[] {
  const functions = new Set(files.flatMap(({ raw }) => raw.functions ?? []).map(({ name }) => name));
  return files.flatMap(actionEntries).flatMap(({ file, path, raw, what }) => {
    const { run } = raw;
    if (run === undefined || run.trim() === '' || exists(run)) return [];
    const spot = spotIn(file, [...path, 'run']);
    if (isCommandText(run)) {
      const message = `${what}: "run" names a workflow, and this is a command`;
      const key = /\n/.test(run.trim()) ? 'script' : 'command';
      return [problem('wrong-value', spot, message, { help: `To run it, write it under "${key}".` })];
    }
    if (/[$`]/.test(run)) return [];
    if (functions.has(run)) {
      const help = `To call the function "${run}", write call: {function: ${JSON.stringify(run)}}`;
      return [problem('missing-workflow', spot, `${what}: there is no workflow "${run}" to run`, { help })];
    }
    const label = () => didYouMean(nearNames(run, names()));
    const where = 'Workflows are searched for beside this file, then in the workflows directory';
    if (FILE_NAME.test(run)) {
      const message = `${what}: there is no workflow "${run}" yet`;
      const help = `${where}. To run a program, write it under "command".`;
      return [problem('missing-workflow', spot, message, { severity: 'warning', label, help })];
    }
    const found = nearby(run);
    if (found !== null) {
      const message = `${what}: the workflow "${run}" is not in the workflows directory`;
      const help = `${where}. There is ${found}: name its workflows directory with --dags.`;
      return [problem('missing-workflow', spot, message, { severity: 'warning', help })];
    }
    const help = `${where}. Write the name of one of them or, to run the program "${run}", command: ${run}`;
    return [problem('missing-workflow', spot, `${what}: there is no workflow "${run}" to run`, { label, help })];
  });
}

/** Warns about text in `params` that the other workflow reads differently than it looks; reports JSON that is no object. */
export function runParamsProblems({ file, path: step, raw: { params }, what }: ActionEntry): Problem[] {
  if (typeof params !== 'string') {
    const json = jsonParams(params);
    if (json === null || /[$`]/.test(json) || exactJsonObject(json) !== null) return [];
    const spot = spotIn(file, [...step, 'params', 'json']);
    const help = 'The keys of the JSON are the parameters. For a parameter of this name, write: params: ["json=..."]';
    return [problem('wrong-value', spot, 'the text of "params: {json: ...}" is not a JSON object', { help })];
  }
  const [path, subject] = [[...step, 'params'], `${what}: "params"`];
  if (!/^\s*\{\s*["}]/.test(params))
    return paramTextProblems({ source: file.source, path, text: params, subject }, false);
  const mistake = jsonMistake(params);
  if (mistake === null) return [];
  const help = 'Put variables into the quotes of a value. A map needs no JSON: params: {NAME: $VALUE}.';
  const message = `${subject} is not JSON (${mistake}), so that its words are the parameters`;
  return [problem('wrong-value', spotIn(file, path), message, { severity: 'warning', help })];
}
