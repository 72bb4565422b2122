import { PATH } from '#core/words/json-path.ts';
import type { Json } from '#core/workflow.ts';
import { isSource, OUTPUT_KEY } from '../../build/published.ts';
import { type Path, type Problem, problem } from '../../problem.ts';
import { spotIn } from '../../read/spec-file.ts';
import type { ActionEntry } from './action-entries.ts';

const values: { readonly [key: string]: readonly string[] } = {
  from: ['stdout', 'stderr', 'file'],
  decode: ['text', 'json', 'yaml'],
};
const SELECT = new RegExp(`^${PATH}$`);

/** Checks an `output` that is a map. */
export function publishedProblems(entry: ActionEntry, output: { readonly [key: string]: Json }): Problem[] {
  return [...variableOfDagu(entry, output), ...keyProblems(entry, output)];
}

/** Dagu writes the variable for standard output as `{name: OUT, key: out, omit: false}` too. */
function variableOfDagu({ file, path, what }: ActionEntry, output: { readonly [key: string]: Json }): Problem[] {
  const { name, key, omit, ...others } = output;
  if (typeof name !== 'string' || Object.keys(others).length > 0) return [];
  // A text in lower case is more likely meant as the value.
  if (key === undefined && omit === undefined && !/^[A-Z][A-Z0-9_]*$/.test(name)) return [];
  const message = `${what}: "output" as a map publishes the text "${name}" under "name", and sets no variable`;
  const help = `For standard output in $${name}, write output: ${name}`;
  return [problem('wrong-value', spotIn(file, [...path, 'output']), message, { severity: 'warning', help })];
}

function keyProblems(entry: ActionEntry, output: { readonly [key: string]: Json }): Problem[] {
  return Object.entries(output).flatMap(([key, value]) => {
    const path = [...entry.path, 'output', key];
    if (!OUTPUT_KEY.test(key)) {
      const help = 'A key has only letters, digits, "_" and "-", so that ${ID.output.KEY} can name it.';
      return [
        problem('invalid-name', spotIn(entry.file, path, 'key'), `"${key}" is not the key of an output`, { help }),
      ];
    }
    return isSource(value) ? sourceProblems(entry, path, value) : [];
  });
}

function sourceProblems({ file }: ActionEntry, path: Path, source: { readonly [key: string]: Json }): Problem[] {
  const key = String(path.at(-1));
  const wrong = (name: string, message: string, help: string) =>
    problem('wrong-value', spotIn(file, [...path, name]), `output "${key}": ${message}`, { help });
  const { from, decode = 'text', select, path: filePath } = source;
  const problems = Object.entries(source).flatMap(([name, value]) => {
    const allowed = values[name];
    if (allowed === undefined && name !== 'path' && name !== 'select') {
      return [wrong(name, `unknown key "${name}"`, 'It takes from, path, decode and select.')];
    }
    if (typeof value !== 'string') return [wrong(name, `"${name}" must be text`, '')];
    if (allowed === undefined || allowed.includes(value)) return [];
    return [wrong(name, `"${name}" cannot be "${value}"`, `One of ${allowed.join(', ')}.`)];
  });
  if (problems.length > 0) return problems;
  if ((from === 'file') !== (filePath !== undefined)) {
    return from === 'file'
      ? [problem('missing-key', spotIn(file, path), `output "${key}" needs "path"`, { help: 'path: report.json' })]
      : [wrong('path', '"path" is only for "from: file"', 'Remove it, or write "from: file".')];
  }
  if (select === undefined) return [];
  if (decode === 'text') return [wrong('select', '"select" needs "decode: json" or "decode: yaml"', 'Add it.')];
  return SELECT.test(String(select))
    ? []
    : [wrong('select', `"${select}" is not a path`, 'For example .items[0].name')];
}
