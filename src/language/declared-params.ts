import { checkParam } from '#core/param-rule.ts';
import type { ParamDefault, ParamRule } from '#core/workflow.ts';
import { nearNames } from '#system/near-names.ts';
import { matchesPattern, patternProblem } from '#system/pattern.ts';
import { isList, type OpenTextMap } from './raw.ts';
import { canonicalKey } from './schema/schema-type.ts';

/** A key of a declared parameter and why its value is invalid; `key` null: the entry as a whole. */
export type DeclarationFault = {
  readonly key: string | null;
  readonly message: string;
  /** Whether the key itself is invalid. */
  readonly isKey?: true;
  /** What was probably meant. */
  readonly near?: readonly string[];
  readonly help?: string;
};

/** The keys that declare a parameter, besides its `name`, by their canonical form. */
const KEYS = [
  ...['type', 'default', 'eval', 'required', 'enum', 'choices', 'minimum', 'maximum', 'minLength', 'maxLength'],
  ...['pattern', 'secret', 'description'],
] as const;
type Key = (typeof KEYS)[number];

const keysByForm = new Map(KEYS.map((key) => [canonicalKey(key), key]));
/** Names of the same things in other tools. */
const otherNames: { readonly [name: string]: Key | (typeof types)[number] } = {
  ...{ values: 'enum', options: 'enum', allowed: 'enum', oneof: 'enum', desc: 'description', help: 'description' },
  ...{ min: 'minimum', max: 'maximum', regex: 'pattern', value: 'default', mandatory: 'required' },
  ...{ int: 'integer', bool: 'boolean', float: 'number', str: 'string', text: 'string', list: 'array', map: 'object' },
};
const types = ['string', 'integer', 'number', 'boolean', 'array', 'object'] as const;
const TRUE = /^(?:true|yes|on|y)$/i;
const FALSE = /^(?:false|no|off|n)$/i;

/** Whether an entry of `params` is a declaration: it has a `name` and at least one key that says more about it. */
export function isDeclaration(entry: OpenTextMap): boolean {
  return typeof entry['name'] === 'string' && Object.keys(entry).some(isDeclarationKey);
}

/** Whether a key of a declaration says what a parameter accepts. */
export function isDeclarationKey(key: string): boolean {
  return keysByForm.has(canonicalKey(key));
}

/** The key of a declaration that a mistyped key probably means; null if no key is similar. */
export function nearDeclarationKey(written: string): string | null {
  return nearTo(written, KEYS)[0] ?? null;
}

/** The parameter that a valid declaration declares. */
export function declaredParam(entry: OpenTextMap): ParamDefault {
  const evaluated = fieldsOf(entry).values.get('eval');
  const { value, rule } = declaredRule(entry);
  // A template stands for exactly this text.
  const template = typeof evaluated === 'string' ? evaluated : value.replace(/[$`]/g, '\\$&');
  return { name: String(entry['name']), value: template, rule };
}

/** The literal default of a valid declaration, and what it accepts. */
export function declaredRule(entry: OpenTextMap): { readonly value: string; readonly rule: ParamRule } {
  const { values } = fieldsOf(entry);
  const value = values.get('default');
  return { value: typeof value === 'string' ? value : '', rule: ruleOf(values) };
}

/** Whether the declaration makes the parameter a secret. */
export function isSecretDeclaration(entry: OpenTextMap): boolean {
  return isDeclaration(entry) && flag(fieldsOf(entry).values.get('secret')) === true;
}

/** The entries of a declaration whose texts are evaluated: all others are literal. */
export function evaluatedTexts(entry: OpenTextMap): readonly (readonly [key: string, value: Value])[] {
  return Object.entries(entry).filter(([key]) => canonicalKey(key) === 'eval');
}

/** The faults of a declaration. */
export function declarationFaults(entry: OpenTextMap): readonly DeclarationFault[] {
  const { values, unknown } = fieldsOf(entry);
  const faults: DeclarationFault[] = unknown.map((key) => ({
    key,
    message: `unknown key "${key}"`,
    isKey: true,
    near: nearTo(key, KEYS),
    help: `Keys of a declared parameter: name, ${KEYS.join(', ')}.`,
  }));
  const given = values.get('type') ?? 'string';
  const type = types.find((known) => known === given);
  if (type === undefined) {
    const near = typeof given === 'string' ? nearTo(given, types) : [];
    return [...faults, { key: 'type', message: `"type" must be one of ${types.join(', ')}`, near }];
  }
  for (const [key, value] of values) {
    const message = valueFault(key, value, type === 'integer' || type === 'number' ? 'number' : type);
    if (message !== null) faults.push({ key, message });
  }
  const [one, other] = (['default', 'eval', 'required'] as const).filter((key) => isSet(values.get(key)));
  if (one !== undefined && other !== undefined) {
    faults.push({ key: other, message: `"${one}" and "${other}" exclude each other` });
  }
  return faults.length > 0 ? faults : defaultFault(values);
}

function nearTo(written: string, known: readonly string[]): readonly string[] {
  const other = Object.hasOwn(otherNames, canonicalKey(written)) ? otherNames[canonicalKey(written)] : undefined;
  return other !== undefined && known.includes(other) ? [other] : nearNames(written, known);
}

type Value = OpenTextMap[string];
type Values = ReadonlyMap<Key, Value>;

function fieldsOf(entry: OpenTextMap): { values: Values; unknown: readonly string[] } {
  const values = new Map<Key, Value>();
  const unknown: string[] = [];
  for (const [written, value] of Object.entries(entry)) {
    if (written === 'name') continue;
    const key = keysByForm.get(canonicalKey(written));
    if (key === undefined) unknown.push(written);
    else if (value !== null) values.set(key, value);
  }
  return { values, unknown };
}

function ruleOf(values: Values): ParamRule {
  const type = types.find((known) => known === values.get('type')) ?? 'string';
  const choices = values.get('enum') ?? values.get('choices');
  const limits = (['minimum', 'maximum', 'minLength', 'maxLength'] as const).flatMap((key) => {
    const value = values.get(key);
    return value === undefined ? [] : [[key, Number(value)] as const];
  });
  const texts = (['pattern', 'description'] as const).flatMap((key) => {
    const value = values.get(key);
    return typeof value === 'string' ? [[key, value] as const] : [];
  });
  return {
    type,
    ...(flag(values.get('required')) === true ? { required: true } : {}),
    ...(isList(choices) ? { choices } : {}),
    ...Object.fromEntries(limits),
    ...Object.fromEntries(texts),
  };
}

/** Why the value of a key is invalid; null if it is valid. `kind`: the kind of the parameter. */
function valueFault(key: Key, value: Value, kind: string): string | null {
  if (key === 'enum' || key === 'choices') {
    if (!isList(value) || value.length === 0) return `"${key}" must be a list of values`;
    if (kind === 'string' || kind === 'number') return null;
    return `"${key}" has no meaning for ${kind === 'boolean' ? 'a boolean' : 'a list or map'}`;
  }
  if (typeof value !== 'string') return `"${key}" must be a single value`;
  if (key === 'required' || key === 'secret') return flag(value) === null ? `"${key}" must be true or false` : null;
  if (key === 'minimum' || key === 'maximum') {
    if (kind !== 'number') return `"${key}" is for numbers: add "type: integer" or "type: number"`;
    return Number.isFinite(Number(value)) && value.trim() !== '' ? null : `"${key}" must be a number`;
  }
  if (key === 'minLength' || key === 'maxLength') {
    if (kind !== 'string') return `"${key}" is for text`;
    return /^\d+$/.test(value) ? null : `"${key}" must be a whole number`;
  }
  if (key !== 'pattern') return null;
  if (kind !== 'string') return '"pattern" is for text';
  const problem = patternProblem(value);
  return problem === null ? null : `"${value}" is not a regular expression: ${problem}`;
}

function defaultFault(values: Values): readonly DeclarationFault[] {
  const value = values.get('default');
  if (typeof value !== 'string') return [];
  const checked = checkParam(value, ruleOf(values), matchesPattern);
  return 'fault' in checked ? [{ key: 'default', message: `the default "${value}" ${checked.fault}` }] : [];
}

function isSet(value: Value | undefined): boolean {
  return value !== undefined && flag(value) !== false;
}

function flag(value: Value | undefined): boolean | null {
  if (typeof value !== 'string') return null;
  if (TRUE.test(value)) return true;
  return FALSE.test(value) ? false : null;
}
