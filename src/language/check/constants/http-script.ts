import type { Json, JsonObject } from '#core/workflow.ts';
import { didYouMean, nearNames } from '../../near-names.ts';
import { type Problem, problem } from '../../problem.ts';
import { isJsonObject } from '../../raw.ts';
import { canonicalKey } from '../../read/canonical-key.ts';
import { executorConfigSchema, knownKeys } from '../../schema/schema.ts';
import type { Schema } from '../../schema/schema-type.ts';
import type { ActionEntry } from '../step/action-entries.ts';
import { isConstant, jsonMistake, wrongConstant } from './constants.ts';

/**
 * Checks the settings of an http step that are in its `script` as JSON. Those with variables are checked too, unless a
 * variable is not in quotes and may be anything.
 */
export function httpScriptProblems(entry: ActionEntry): Problem[] {
  const { script } = entry.raw;
  if (script === undefined || script.trim() === '') return [];
  const mistake = jsonMistake(script);
  const settings = mistake === null ? (JSON.parse(script) as Json) : null;
  if (isJsonObject(settings)) return settingProblems(entry, settings);
  if (!isConstant(script)) return [];
  const help = 'The script of an http step is a JSON object with timeout, headers, query and body.';
  const why = mistake ?? 'it must be an object';
  return wrongConstant(entry, ['script'], `the settings in "script" are not valid JSON: ${why}`, help);
}

function settingProblems(entry: ActionEntry, settings: JsonObject): Problem[] {
  const schema = executorConfigSchema('http');
  if (schema === null) return [];
  return Object.entries(settings).flatMap(([key, value]) => {
    if (!isConstant(key) || value === undefined || value === null) return [];
    const known = knownKeys(schema).get(canonicalKey(key))?.name;
    if (known === undefined) return [unknownKey(entry, key, schema)];
    const mistake = valueMistake(known, value);
    if (mistake === null) return [];
    return [problem('wrong-value', keySpot(entry, key), `${entry.what}: in "script", ${mistake}`)];
  });
}

function unknownKey(entry: ActionEntry, key: string, schema: Schema): Problem {
  const names = Object.keys(schema.properties ?? {});
  return problem(
    'unknown-key',
    keySpot(entry, key),
    `unknown key ${JSON.stringify(key)} in the "script" of ${entry.what}`,
    {
      label: () => didYouMean(nearNames(key, names)),
      help: `Known keys here: ${names.join(', ')} (wf schema executor.http).`,
    },
  );
}

function keySpot({ file, path, raw: { script = '' } }: ActionEntry, key: string): Problem['spot'] {
  const text = JSON.stringify(key);
  return { source: file.source, path: [...path, 'script'], part: 'value', word: { at: script.indexOf(text), text } };
}

/** Why the executor would refuse a value, in its words; null if it takes the value. */
function valueMistake(key: string, value: Json): string | null {
  if (typeof value === 'string' && !isConstant(value)) return null;
  switch (key) {
    case 'timeout':
      return isSeconds(value) ? null : `"timeout" must be a number of seconds, not ${JSON.stringify(value)}`;
    case 'headers':
    case 'query':
      return pairsMistake(key, value);
    case 'body':
      return null;
    default:
      return isFlag(value) ? null : `"${key}" must be true or false, not ${JSON.stringify(value)}`;
  }
}

function isSeconds(value: Json): boolean {
  const seconds = typeof value === 'string' ? Number(value) : value;
  return typeof seconds === 'number' && Number.isFinite(seconds) && seconds >= 0;
}

function isFlag(value: Json): boolean {
  return typeof value === 'boolean' || value === 'true' || value === 'false' || value === '';
}

function pairsMistake(key: string, value: Json): string | null {
  if (!isJsonObject(value)) return `"${key}" must be a map of names and values`;
  const wrong = Object.entries(value).find(([, entry]) =>
    [entry ?? null].flat().some((one) => isJsonObject(one) || Array.isArray(one)),
  );
  return wrong === undefined ? null : `"${key}.${wrong[0]}" must be a text`;
}
