import { literalText } from '../../core/words/interpolate.ts';
import type { Json, JsonObject } from '../../core/workflow.ts';
import { sortedEntries } from '../tool-settings.ts';

/** What begins an expression, a statement or a comment of Jinja. */
const openers = /\{[{%#]/g;

/** A variable's value would be evaluated as an expression, and nothing can prevent it where the text has one already. */
export class MixedTemplate extends Error {}

/**
 * `extraVars` as the JSON that Ansible reads, names sorted. Types are kept. A text is a template to Ansible as anywhere in a
 * playbook, but not by what came in with a variable: such a text is marked as one that Ansible leaves as it is. Throws a
 * `MixedTemplate` where a text has an expression of its own beside it.
 */
export function extraVarsJson(extraVars: JsonObject, expand: (text: string) => string): string {
  return JSON.stringify(expandValue(extraVars, expand, 'extraVars'));
}

function expandValue(value: Json, expand: (text: string) => string, path: string): Json {
  if (typeof value === 'string') return expandString(value, expand, path);
  if (Array.isArray(value)) return value.map((item: Json, i) => expandValue(item, expand, `${path}[${i}]`));
  if (typeof value !== 'object' || value === null) return value;
  const entries = sortedEntries(value).map(([name, item]) => [name, expandValue(item, expand, `${path}.${name}`)]);
  return Object.fromEntries(entries) as JsonObject;
}

function expandString(template: string, expand: (text: string) => string, path: string): Json {
  const text = expand(template);
  const own = countOpeners(literalText(template));
  if (countOpeners(text) === own) return text;
  if (own === 0) return { __ansible_unsafe: text };
  throw new MixedTemplate(
    `"${path}" mixes an expression with a variable whose value has one too: give the value a variable of its own`,
  );
}

function countOpeners(text: string): number {
  return text.match(openers)?.length ?? 0;
}
