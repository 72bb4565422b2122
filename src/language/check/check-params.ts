import { VARIABLE_NAME } from '../build/assignments.ts';
import { declarationFaults, declaredParam, isDeclaration, nearDeclarationKey } from '../declared-params.ts';
import { didYouMean } from '../near-names.ts';
import { parseParamDefaults } from '../params.ts';
import { type Path, type Problem, problem } from '../problem.ts';
import type { OpenTextMap, OpenTexts } from '../raw.ts';
import { canonicalKey } from '../read/canonical-key.ts';
import { type SpecFile, spotIn } from '../read/spec-file.ts';
import { jsonMistake } from './constants/constants.ts';
import { paramTextProblems } from './param-text.ts';

/** A part of `params` with a position of its own: the text, an entry of the list, or the map. */
type Part = { readonly path: Path; readonly content: string | OpenTextMap; readonly isEntry: boolean };

/** Checks the parameters of a file: names, which become variables, declarations, and quotes of values. */
export function paramProblems(file: SpecFile): Problem[] {
  const { params } = file.raw;
  if (params === undefined) return [];
  const parts = partsOf(params);
  return [
    ...parts.flatMap((part) => nameProblems(file, part)),
    ...repeatedNames(file, parts),
    ...parts.flatMap(({ path, content }) => (typeof content === 'string' ? [] : entryProblems(file, path, content))),
    ...parts.flatMap((part) => jsonProblems(file, part) ?? textProblems(file, part)),
  ];
}

/** A declaration at a path of a file; `what` names it in messages, such as `parameter "A"`. */
export type DeclarationEntry = {
  readonly file: SpecFile;
  readonly path: Path;
  readonly what: string;
  readonly entry: OpenTextMap;
};

/** Reports the faults of a declaration at the key that has them. */
export function declarationProblems({ file, path, what, entry }: DeclarationEntry): Problem[] {
  return declarationFaults(entry).map(({ key, message, isKey, near = [], help = null }) => {
    const written = Object.keys(entry).find((name) => key !== null && canonicalKey(name) === canonicalKey(key)) ?? key;
    const spot = spotIn(file, written === null ? path : [...path, written], isKey === true ? 'key' : 'value');
    const code = isKey === true ? 'unknown-key' : 'wrong-value';
    return problem(code, spot, `${what}: ${message}`, { label: didYouMean(near), help });
  });
}

function partsOf(params: string | OpenTexts): readonly Part[] {
  if (!isList(params)) return [{ path: ['params'], content: params, isEntry: false }];
  return params.map((content, index) => ({ path: ['params', index], content, isEntry: true }));
}

function namesOf({ content, isEntry }: Part): string[] {
  const params: string | OpenTexts = typeof content === 'string' && !isEntry ? content : [content];
  return parseParamDefaults(params).flatMap(({ name }) => name ?? []);
}

function nameProblems(file: SpecFile, part: Part): Problem[] {
  return namesOf(part).flatMap((name) => {
    if (VARIABLE_NAME.test(name)) return [];
    return [problem('invalid-name', spotIn(file, part.path), `"${name}" is not the name of a parameter`)];
  });
}

/** Only the last of several values of a name is used. Twice the same key in one map was reported before. */
function repeatedNames(file: SpecFile, parts: readonly Part[]): Problem[] {
  const firsts = new Map<string, Part>();
  return parts.flatMap((part) =>
    namesOf(part).flatMap((name) => {
      const first = firsts.get(name);
      if (first === undefined) firsts.set(name, part);
      return first === undefined ? [] : [repeatedName(file, { name, first, part })];
    }),
  );
}

type Repeated = { readonly name: string; readonly first: Part; readonly part: Part };

function repeatedName(file: SpecFile, { name, first, part }: Repeated): Problem {
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
      return [
        problem('wrong-type', spotIn(file, [...path, name]), `"${name}" in "params" must be text, not ${kind}`, {
          label: 'expected text',
          help,
        }),
      ];
    });
  }
  const faults = declarationProblems({ file, path, what: `parameter "${String(entry['name'])}"`, entry });
  if (faults.length > 0 || !isScheduled(file) || declaredParam(entry).rule?.required !== true) return faults;
  const message = `parameter "${String(entry['name'])}" is required, but a scheduled run is started without parameters`;
  return [problem('wrong-value', spotIn(file, path), message, { help: 'Give it a "default", or remove "schedule".' })];
}

/** Warns about a key like those of declarations in a map that has no other declaration keys. */
function separateParam(file: SpecFile, path: Path, entry: OpenTextMap, key: string): Problem[] {
  const near = key === 'name' || typeof entry['name'] !== 'string' ? null : nearDeclarationKey(key);
  if (near === null) return [];
  const message = `"${key}" is a parameter of its own, as is "name"`;
  return [
    problem('wrong-value', spotIn(file, [...path, key], 'key'), message, {
      severity: 'warning',
      label: didYouMean([near]),
      help: `A declaration has a "name" and other keys, such as "${near}".`,
    }),
  ];
}

function isScheduled({ raw: { schedule } }: SpecFile): boolean {
  if (schedule === undefined) return false;
  return typeof schedule === 'string' || Array.isArray(schedule) || 'start' in schedule || 'restart' in schedule;
}

/** A JSON object in a text, which is read as several words; null for any other text. */
function jsonProblems(file: SpecFile, { path, content }: Part): Problem[] | null {
  if (typeof content !== 'string' || !/^\s*\{.*\s.*\}/s.test(content) || jsonMistake(content) !== null) return null;
  return [
    problem('wrong-value', spotIn(file, path), '"params" is a JSON object in a text, whose words are the parameters', {
      severity: 'warning',
      help: 'Remove the quotes around it: a map declares its keys.',
    }),
  ];
}

/** The value of an entry of the list ends with the entry, so only its first quote can be meant to enclose it. */
function textProblems({ source }: SpecFile, { path, content, isEntry }: Part): Problem[] {
  if (typeof content !== 'string') return [];
  return paramTextProblems({ source, path, text: content, subject: '"params"' }, isEntry);
}

function isList(params: string | OpenTexts): params is Extract<OpenTexts, readonly unknown[]> {
  return Array.isArray(params);
}
