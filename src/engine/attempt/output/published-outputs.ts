import { isUtf8 } from 'node:buffer';
import { closeSync, fstatSync, readSync } from 'node:fs';
import { jsonIn } from '#core/data/exact-json.ts';
import type { Outputs } from '#core/run/run.ts';
import { expandText } from '#core/words/interpolate.ts';
import { partOf } from '#core/words/json-path.ts';
import type { OutputSource, PublishedOutput, Step } from '#core/workflow.ts';
import type { Scope } from '#executors/executor.ts';
import { errorCode, messageOf } from '#system/errors.ts';
import { openRegular, pathFrom, removeIfPossible } from '#system/files.ts';
import { isDeclared } from '../attempt-context.ts';
import { type AttemptOutput, readOutput } from './attempt-output.ts';

/** The sources of published outputs. */
type Sources = {
  readonly output: AttemptOutput;
  readonly scope: Scope;
  readonly cwd: string;
  readonly maxBytes: number;
};

/** The values that a step publishes, or why one of them cannot be read. */
export async function publishedOutputs(
  published: NonNullable<Step['published']>,
  sources: Sources,
): Promise<{ readonly outputs: Outputs } | { readonly problem: string }> {
  const outputs: Record<string, string> = {};
  const declared = published.filter(isDeclared);
  const written = declared.length === 0 ? new Map<string, string>() : readWritten(declared, sources);
  if ('problem' in written) return written;
  for (const { key, value } of published) {
    const text = 'literal' in value ? value.literal : written.get(key);
    const read = 'literal' in value || text !== undefined ? { text: text ?? '' } : await readValue(key, value, sources);
    if ('problem' in read) return read;
    if (key === '*') Object.assign(outputs, entriesOf(read.text));
    else outputs[key] = read.text;
  }
  return { outputs };
}

const ASSIGNMENT = /^([^=<\s]+)=(.*)$/;
const DOCUMENT = /^([^=<\s]+)<<(.+)$/;

/** The entries of `$WF_OUTPUT_FILE`: exactly the declared ones, as `NAME=value`, or `NAME<<END`, lines, and `END`. */
function readWritten(
  declared: readonly PublishedOutput[],
  { scope, maxBytes }: Sources,
): ReadonlyMap<string, string> | { readonly problem: string } {
  const read = readWhole(scope('WF_OUTPUT_FILE') ?? '', maxBytes);
  if ('problem' in read) return read;
  const names = new Set(declared.map(({ key }) => key));
  const found = new Map<string, string>();
  const lines = read.text.split(/\r?\n/);
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (line === '') continue;
    const [, name = '', text = ''] = ASSIGNMENT.exec(line) ?? DOCUMENT.exec(line) ?? [];
    const number = at + 1;
    if (name === '') return { problem: `line ${number} of $WF_OUTPUT_FILE is no NAME=value` };
    if (!names.has(name))
      return { problem: `line ${number} of $WF_OUTPUT_FILE: "${name}" is not declared under "outputs"` };
    if (found.has(name)) return { problem: `line ${number} of $WF_OUTPUT_FILE: "${name}" is written twice` };
    const isDocument = !ASSIGNMENT.test(line);
    const end = isDocument ? lines.indexOf(text, number) : at;
    if (end === -1) return { problem: `line ${number} of $WF_OUTPUT_FILE: no line "${text}" ends "${name}"` };
    found.set(name, isDocument ? lines.slice(number, end).join('\n') : text);
    at = end;
  }
  for (const { key, value } of declared) {
    const text = found.get(key);
    if (text === undefined) return { problem: `output "${key}" was not written to $WF_OUTPUT_FILE` };
    const isJson = 'decode' in value && value.decode === 'json';
    if (isJson && jsonIn(text) === undefined) return { problem: `output "${key}" is not JSON` };
  }
  return found;
}

/** The text of a file, which must be UTF-8. A file that does not exist is empty. */
function readWhole(file: string, maxBytes: number): Value {
  let bytes: Buffer;
  try {
    const fd = openRegular(file);
    try {
      const { size } = fstatSync(fd);
      if (size > maxBytes) return { problem: `$WF_OUTPUT_FILE has ${size} bytes; outputs can have ${maxBytes}` };
      bytes = Buffer.alloc(size);
      bytes = bytes.subarray(0, readSync(fd, bytes));
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { text: '' };
    return { problem: `cannot read $WF_OUTPUT_FILE: ${messageOf(error)}` };
  } finally {
    removeIfPossible(file);
  }
  return isUtf8(bytes) ? { text: bytes.toString('utf8') } : { problem: '$WF_OUTPUT_FILE is not UTF-8' };
}

/** The entries of a JSON map; texts without their quotes. */
function entriesOf(json: string): Outputs {
  const entries = Object.entries(JSON.parse(json) as { readonly [key: string]: unknown });
  return Object.fromEntries(
    entries.map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]),
  );
}

type Value = { readonly text: string } | { readonly problem: string };

async function readValue(key: string, source: OutputSource, sources: Sources): Promise<Value> {
  const { from, decode, select } = source;
  const read = readSource(key, source, sources);
  if ('problem' in read || decode === 'text') return read;
  const json = decode === 'json' ? read.text : await yamlAsJson(read.text);
  const found = json === null ? { problem: `${from} is not YAML` } : partOf(from, select ?? '', json);
  return 'value' in found ? { text: found.value } : { problem: `output "${key}": ${found.problem}` };
}

function readSource(key: string, source: OutputSource, sources: Sources): Value {
  if (source.from === 'outputs') return { problem: `output "${key}" was not written` };
  if (source.from === 'text') return { text: expandText(source.text, sources.scope) };
  return source.from === 'file' ? readFile(key, source.path, sources) : sources.output.text(key, source.from);
}

function readFile(key: string, path: string, { scope, cwd, maxBytes }: Sources): Value {
  const file = pathFrom(cwd, expandText(path, scope), scope('HOME'));
  try {
    const fd = openRegular(file);
    try {
      return readOutput(fd, key, maxBytes);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    return { problem: `output "${key}": cannot read "${file}": ${messageOf(error)}` };
  }
}

/** Null for a text that is not one YAML document. */
async function yamlAsJson(text: string): Promise<string | null> {
  const { parse } = await import('yaml');
  try {
    return JSON.stringify(parse(text) ?? null);
  } catch {
    return null;
  }
}
