import { posix } from 'node:path';
import type { MapEntry, MapNode, Node } from '../read/node.ts';
import { oneAfterAnother } from './command-list.ts';
import {
  entry,
  type Field,
  Fields,
  list,
  map,
  namedMaps,
  type Report,
  scalar,
  textIn,
  withTextsOf,
} from './form-nodes.ts';
import { isShell } from './scoped-names.ts';

/** A file that a step reads or writes, by its name in the step. */
type NamedPath = { readonly name: string; readonly path: string; readonly at: Node };

/** A step of a build, and its files. */
type BuildStep = {
  readonly step: MapNode;
  readonly name: string | null;
  /** The directory of relative paths; empty for that of the workflow. */
  readonly dir: string;
  readonly inputs: readonly NamedPath[];
  readonly output: NamedPath | null;
};

const NAME = /^[A-Za-z][A-Za-z0-9_]*$/;
const REFERENCE = /\\\$|\$\{(inputs|outputs)\.([A-Za-z_][\w-]*)\}/g;

/**
 * Reads the steps of a file with `type: build`. Files under `inputs` become `sources`, one under `outputs` becomes `generates`:
 * the program writes it at another path, from which it is moved after a success. A step that reads the file of another one
 * depends on it.
 */
export function withBuildPaths(steps: Node, top: Fields, report: Report): Node {
  const around = directoryOf(top) ?? '';
  const all = new Map<MapNode, BuildStep>();
  for (const { name, map: step } of namedMaps(steps)) all.set(step, buildStepOf(step, name, around, report));
  const writers = writersOf([...all.values()], report);
  const read = (step: Node | null): Node | null => {
    const found = step?.kind === 'map' ? all.get(step) : undefined;
    if (found === undefined || (found.inputs.length === 0 && found.output === null)) return step;
    return map(entriesOf(found, writers, report), found.step);
  };
  if (steps.kind === 'list') return { ...steps, items: steps.items.flatMap((step) => read(step) ?? []) };
  if (steps.kind !== 'map') return steps;
  return { ...steps, entries: steps.entries.map(({ key, value }) => ({ key, value: read(value) })) };
}

function directoryOf(fields: Fields): string | null {
  return textIn((fields.get('working_dir') ?? fields.get('dir'))?.value);
}

function buildStepOf(step: MapNode, name: string | null, around: string, report: Report): BuildStep {
  const fields = new Fields(step.entries);
  const inputs = pathsIn(fields.get('inputs'), 'inputs', report);
  const outputs = pathsIn(fields.get('outputs'), 'outputs', report);
  const [output = null, second] = outputs;
  if (second !== undefined) {
    const help = 'Write one step for each file.';
    report('not-supported', second.at, 'a step can have one "path" under "outputs"', { help });
  }
  if (output !== null && name === null)
    report('missing-key', output.at, 'a step with a file under "outputs" needs an "id"');
  const own = directoryOf(fields) ?? '';
  return { step, name, dir: posix.isAbsolute(own) ? own : posix.join(around, own), inputs, output };
}

/** The entries `{name, path}` of a list; those of `outputs` without a path are values. */
function pathsIn(field: Field | null, key: 'inputs' | 'outputs', report: Report): NamedPath[] {
  if (field === null) return [];
  if (field.value.kind !== 'list') {
    if (key === 'inputs') report('wrong-type', field.value, '"inputs" must be a list of {name, path}');
    return [];
  }
  const names = new Set<string>();
  return field.value.items.flatMap((item) => {
    const fields = new Fields(item.kind === 'map' ? item.entries : []);
    const [name, path] = [textIn(fields.take('name')?.value), fields.take('path')];
    if (key === 'outputs' && path === null) return [];
    const text = textIn(path?.value);
    if (name === null || text === null || text.trim() === '') {
      report('missing-key', item, `an entry of "${key}" needs "name" and "path"`);
      return [];
    }
    if (!NAME.test(name)) report('invalid-name', item, `"${name}" is not the name of a file under "${key}"`);
    if (names.has(name)) report('duplicate-key', item, `"${name}" is defined twice under "${key}"`);
    names.add(name);
    const [other] = fields.rest;
    if (other !== undefined) {
      const label = `an entry of "${key}" cannot have both "path" and "${textIn(other.key)}"`;
      report('conflicting-keys', other.key ?? item, label, { help: 'Files have "name" and "path".' });
    }
    if (/[*?[\]{}!]/.test(text.replaceAll(/\$\{[^}]*\}/g, ''))) {
      const help = 'Name one file. Patterns are possible under "sources".';
      report('wrong-value', path?.value ?? item, `the path "${text}" is a pattern`, { help });
    }
    return [{ name, path: text, at: path?.value ?? item }];
  });
}

/** The step that writes each file, by its path. */
function writersOf(steps: readonly BuildStep[], report: Report): ReadonlyMap<string, string> {
  const writers = new Map<string, string>();
  for (const { output, name, dir } of steps) {
    if (output === null || name === null) continue;
    const path = pathFrom(dir, output.path);
    const other = writers.get(path);
    if (other !== undefined) {
      const help = 'Let one step write the file, and the other one read it.';
      report('conflicting-keys', output.at, `steps "${other}" and "${name}" both write "${output.path}"`, { help });
    } else writers.set(path, name);
  }
  return writers;
}

function pathFrom(dir: string, path: string): string {
  return posix.isAbsolute(path) ? posix.normalize(path) : posix.join(dir, path);
}

function entriesOf(build: BuildStep, writers: ReadonlyMap<string, string>, report: Report): readonly MapEntry[] {
  const { step, name, dir, inputs, output } = build;
  const fields = new Fields(step.entries);
  const [given, declared] = [fields.take('inputs'), fields.take('outputs')];
  const values = declared?.value.kind === 'list' ? declared.value.items.filter((item) => !hasPath(item)) : [];
  if (declared !== null && values.length > 0) fields.add(entry('outputs', declared.key, list(values, declared.value)));
  const run = fields.take('run');
  const key = run?.key ?? step;
  const code = run === null ? null : codeOf(run, fields, report);
  if (code === null) {
    const help = 'Write its work as a command: run: ...';
    report('not-supported', given?.key ?? declared?.key ?? step, 'only a step with "run" can have files', { help });
  }
  for (const other of fields.rest) {
    if (other.value === null) continue;
    withTextsOf(other.value, (text, node) => {
      const [found] = text.match(/\$\{(?:inputs|outputs)\.\w+\}/) ?? [];
      if (found !== undefined) report('not-supported', node, `${found} can be used in "run" only`);
      return text;
    });
  }
  fields.add(
    entry(
      'run',
      key,
      scalar(wrapped(named(code ?? 'true', run?.value ?? step, build, report), build), run?.value ?? step),
    ),
  );
  const variables = [
    ...inputs.map((file) => variable('INPUT', file)),
    ...(output === null ? [] : [variable('OUTPUT', output)]),
  ];
  prepend(fields, 'env', variables, given?.key ?? key);
  const before = inputs
    .flatMap((file) => writers.get(pathFrom(dir, file.path)) ?? [])
    .filter((writer) => writer !== name);
  const depends = [...new Set(before)].map((writer) => scalar(writer, given?.value ?? step));
  prepend(fields, 'depends', depends, given?.key ?? key);
  if (output === null) return fields.rest;
  if (inputs.some((file) => pathFrom(dir, file.path) === pathFrom(dir, output.path))) {
    report('wrong-value', output.at, `the step reads and writes "${output.path}"`, { help: 'Write another file.' });
  }
  if (given !== null && inputs.length > 0) {
    const sources = inputs.map(({ path, at }) => scalar(path, at));
    fields.add(entry('sources', given.key, list(sources, given.value)));
    fields.add(entry('generates', output.at, scalar(output.path, output.at)));
  }
  publish(fields, output, pathFrom(dir, output.path), report);
  return fields.rest;
}

function hasPath(item: Node): boolean {
  return item.kind === 'map' && new Fields(item.entries).get('path') !== null;
}

/** The code of `run` for a shell; null for a script of another program. */
function codeOf(run: Field, fields: Fields, report: Report): string | null {
  const settings = fields.get('with')?.value;
  const shell = settings?.kind === 'map' ? textIn(new Fields(settings.entries).get('shell')?.value) : null;
  const text =
    run.value.kind === 'list' ? oneAfterAnother(run.value.items.map((item) => textIn(item) ?? '')) : textIn(run.value);
  if (text === null || text.startsWith('#!') || (shell !== null && !isShell(shell))) {
    const help = 'Run the other program from a shell, for example: run: python3 convert.py "${inputs.data}"';
    report('not-supported', run.value, 'the "run" of a step with files must be code for a shell', { help });
    return null;
  }
  return text;
}

/** The code with the variables of its files. */
function named(code: string, at: Node, { inputs, output }: BuildStep, report: Report): string {
  return code.replaceAll(REFERENCE, (written: string, kind?: string, name = '') => {
    if (kind === undefined) return written;
    const known = kind === 'inputs' ? inputs : output === null ? [] : [output];
    if (!known.some((file) => file.name === name)) {
      const help =
        known.length === 0
          ? `The step has no files under "${kind}".`
          : `Known are ${known.map((file) => file.name).join(', ')}.`;
      report('wrong-value', at, `"${kind}" of the step has no file "${name}"`, { help });
    }
    return `\${env.${kind === 'inputs' ? 'INPUT' : 'OUTPUT'}_${name}}`;
  });
}

/** Code that makes the paths absolute, lets the program write beside its file, and moves that there after a success. */
function wrapped(code: string, { inputs, output }: BuildStep): string {
  const names = [...inputs.map(({ name }) => `INPUT_${name}`), ...(output === null ? [] : [`OUTPUT_${output.name}`])];
  const absolute = names.map((name) => `case $${name} in /*) ;; *) ${name}=$PWD/$${name} ;; esac`).join('\n');
  // The first line is shown when the step starts.
  const own = `build() ( ${code.trimEnd()}\n)\n${absolute}\n`;
  if (output === null) return `${own}build\n`;
  const name = `OUTPUT_${output.name}`;
  return `${own}wf_file=$${name}
${name}=$wf_file.$WF_RUN_ID.$WF_ATTEMPT
trap 'rm -f -- "$${name}"' EXIT
build
case $? in 0) ;; *) exit $? ;; esac
mv -f -- "$${name}" "$wf_file"
`;
}

function variable(prefix: string, { name, path, at }: NamedPath): Node {
  return map([{ key: scalar(`${prefix}_${name}`, at), value: scalar(path, at) }], at);
}

/** Adds items to the beginning of a list, which may be absent or a single value. */
function prepend(fields: Fields, name: string, items: readonly Node[], at: Node): void {
  if (items.length === 0) return;
  const own = fields.take(name);
  const given = own === null ? [] : own.value.kind === 'list' ? own.value.items : [own.value];
  fields.add(entry(name, own?.key ?? at, list([...items, ...given], own?.value ?? at)));
}

/** Publishes the path as an output of the step. */
function publish(fields: Fields, { name, at }: NamedPath, path: string, report: Report): void {
  const own = fields.take('output');
  if (own !== null && own.value.kind !== 'map') {
    const help = 'Remove "output", or write "output" as a map.';
    report('conflicting-keys', own.key, 'a step with a file under "outputs" cannot have "output" as a text', { help });
  }
  const published = {
    key: scalar(name, at),
    value: map([entry('from', at, scalar('text', at)), { key: scalar('text', at), value: scalar(path, at) }], at),
  };
  const entries = own?.value.kind === 'map' ? own.value.entries : [];
  fields.add(entry('output', own?.key ?? at, map([...entries, published], own?.value ?? at)));
}
