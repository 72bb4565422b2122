import { closeSync } from 'node:fs';
import type { Outputs } from '#core/run/run.ts';
import { expandText } from '#core/words/interpolate.ts';
import { partOf } from '#core/words/json-path.ts';
import type { OutputSource, Step } from '#core/workflow.ts';
import type { Scope } from '#executors/executor.ts';
import { messageOf } from '#system/errors.ts';
import { openRegular, pathFrom } from '#system/files.ts';
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
  for (const { key, value } of published) {
    const read = 'literal' in value ? { text: value.literal } : await readValue(key, value, sources);
    if ('problem' in read) return read;
    if (key === '*') Object.assign(outputs, entriesOf(read.text));
    else outputs[key] = read.text;
  }
  return { outputs };
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
