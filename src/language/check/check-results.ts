import { PATH } from '#core/words/json-path.ts';
import { assignments, outputName } from '../build/assignments.ts';
import { rawFanOut } from '../build/fan-out.ts';
import { parseParamDefaults } from '../params.ts';
import { type Path, type Problem, problem } from '../problem.ts';
import { type SpecFile, type StepEntry, spotIn, stepEntries } from '../read/spec-file.ts';
import { dependenciesOf } from './check-graph.ts';
import { type ActionEntry, actionEntries } from './step/action-entries.ts';

/** A reference to the result of a step. */
const REFERENCE =
  /(?<!\\)\$\{([A-Za-z_][\w-]*)\.(?:stdout|stderr|exitCode|exit_code|status|outputs?)(?![\w-])[^}:]*(?::-[^}]*)?\}/g;
/** A path with an offset and a length, as newer programs of this family have it. */
const SLICE = new RegExp(String.raw`(?<!\\)\$\{[A-Za-z_]\w*${PATH}:(?!-)[^}]*\}`, 'g');

type Where = { readonly file: SpecFile; readonly path: Path; readonly what: string };

/**
 * Reports references to results of steps (`${ID.stdout}`) that are not available where they are used, and slices.
 * `isComplete`: all steps are known.
 */
export function resultProblems(
  files: readonly SpecFile[],
  steps: readonly StepEntry[],
  isComplete: boolean,
): Problem[] {
  const users = files.flatMap(actionEntries).filter(({ hasDollar }) => hasDollar);
  if (users.length === 0) return [];
  const variables = variableNames(files, steps);
  const before = dependenciesOf(steps);
  const names = new Map(files.flatMap(stepEntries).map(({ raw, name }) => [raw as ActionEntry['raw'], name]));
  return users.flatMap(({ file, path, raw, what }) => {
    const { script: _, ...rest } = raw;
    const user = names.get(raw);
    return textsWithDollar(rest, path).flatMap(([place, text]) => [
      ...slices(text, { file, path: place, what }),
      ...[...text.matchAll(REFERENCE)].flatMap(([reference, id = '']) => {
        const used = isComplete && !variables.has(id) ? before.index.get(id) : undefined;
        if (used === undefined) return [];
        const where = { file, path: place, what };
        if (id.includes('-')) return [notOneWord(reference, id, where)];
        const isAvailable = user === undefined || before.has(before.index.get(user ?? '') ?? -1, used);
        if (!isAvailable) return [notBefore(reference, id, where)];
        const { run } = steps[used]?.raw ?? {};
        if (run === undefined && isOfChild(reference)) return [noChild(reference, id, where)];
        const isFanOut = rawFanOut(steps[used]?.raw ?? {}) !== null;
        return isFanOut && !/\.(?:status|output)\b/.test(reference) ? [ofItems(reference, id, where)] : [];
      }),
    ]);
  });
}

function slices(text: string, { file, path }: Where): Problem[] {
  return [...text.matchAll(SLICE)].map(([reference]) =>
    problem('not-supported', spotIn(file, path), `"${reference}": a part of a text by its position is not supported`, {
      help: 'Write "cut" or "head" in the command.',
    }),
  );
}

function notOneWord(reference: string, id: string, { file, path }: Where): Problem {
  return problem(
    'not-supported',
    spotIn(file, path),
    `"${reference}": "${id}" is not a name of letters, digits and "_"`,
    {
      help: 'Give that step an "id" of that form, and write it here.',
    },
  );
}

function ofItems(reference: string, id: string, { file, path }: Where): Problem {
  const message = `"${reference}": step "${id}" runs for several items, and has only "status" and "output"`;
  const help = `Its output holds the result of each item: \${${id}.output.results[0].exitCode}.`;
  return problem('not-supported', spotIn(file, path), message, { help });
}

function isOfChild(reference: string): boolean {
  return /^\$\{[\w-]+\.outputs\b/.test(reference);
}

function noChild(reference: string, id: string, { file, path }: Where): Problem {
  const message = `"${reference}": step "${id}" runs no other workflow, and has no "outputs"`;
  const help = `With "output", it has \${${id}.output}, or \${${id}.output.KEY} if that is a map.`;
  return problem('not-supported', spotIn(file, path), message, { help });
}

function notBefore(reference: string, id: string, { file, path, what }: Where): Problem {
  const isOwn = what === `step "${id}"`;
  const message = isOwn ? 'a step cannot use its own result' : `${what} does not depend on "${id}"`;
  return problem('missing-dependency', spotIn(file, path), `"${reference}": ${message}`, {
    help: isOwn
      ? 'Use it in a later step.'
      : `Add "depends: ${id}": the result is known only after the step has finished.`,
  });
}

function variableNames(files: readonly SpecFile[], steps: readonly StepEntry[]): ReadonlySet<string> {
  const envs = [...files.map(({ raw }) => raw.env), ...steps.map(({ raw }) => raw.env)];
  const params = files.flatMap(({ raw }) => parseParamDefaults(raw.params).map(({ name }) => name));
  const outputs = steps.flatMap(({ raw }) => outputName(raw) ?? []);
  const names = [...envs.flatMap(assignments).map(({ name }) => name), ...params, ...outputs];
  return new Set(names.filter((name) => name !== null));
}

/** Every text with a `$` within a value, with its path. */
function textsWithDollar(value: unknown, path: Path): [path: Path, text: string][] {
  if (typeof value === 'string') return value.includes('$') ? [[path, value]] : [];
  if (typeof value !== 'object' || value === null) return [];
  const isList = Array.isArray(value);
  return Object.entries(value).flatMap(([key, item]) => textsWithDollar(item, [...path, isList ? Number(key) : key]));
}
