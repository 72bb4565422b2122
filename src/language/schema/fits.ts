import type { Json, JsonObject } from '#core/workflow.ts';
import { resolve } from './schema.ts';
import type { Schema } from './schema-type.ts';

/**
 * Whether a value that was read by a schema is valid. The complete validator (`generated/validate.cjs`) says why it is not;
 * it takes longer to load than nearly all files to check. Unknown keys, and alternatives (`anyOf`), are for others to
 * check, as they are for that validator.
 */
export function fits(value: Json, schema: Schema): boolean {
  if (typeof value === 'string' && takesAnyText(schema)) return true;
  const rule = schema.$ref === undefined ? schema : resolve(schema);
  const { type, enum: allowed, const: only, pattern, allOf } = rule;
  if (type !== undefined && !isOfType(value, type)) return false;
  if (allowed !== undefined && !allowed.includes(value)) return false;
  if (only !== undefined && value !== only) return false;
  if (typeof value === 'string') {
    if (pattern !== undefined && !new RegExp(pattern, 'u').test(value)) return false;
  } else if (typeof value === 'number') {
    if (!isInRange(value, rule)) return false;
  } else if (typeof value === 'object' && value !== null) {
    if (!(Array.isArray(value) ? itemsFit(value, rule) : keysFit(value as JsonObject, rule))) return false;
  }
  return allOf === undefined || conditionsOf(allOf).every((condition) => meets(value, condition));
}

const takingAnyText = new Map<Schema, boolean>();

/** Whether every text fits a schema. Most values of a file are texts with such a schema. */
function takesAnyText(schema: Schema): boolean {
  const kept = takingAnyText.get(schema);
  if (kept !== undefined) return kept;
  const { type = 'string', enum: allowed, const: only, pattern, allOf } = resolve(schema);
  const isOpen = [allowed, only, pattern, allOf].every((keyword) => keyword === undefined);
  const takesAny = isOpen && [type].flat().includes('string');
  takingAnyText.set(schema, takesAny);
  return takesAny;
}

function isOfType(value: Json, type: string | readonly string[]): boolean {
  const own = typeOf(value);
  if (typeof type === 'string') return own === type || (type === 'integer' && Number.isInteger(value));
  return type.includes(own) || (type.includes('integer') && Number.isInteger(value));
}

function typeOf(value: Json): string {
  if (typeof value !== 'object') return typeof value;
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : 'object';
}

function isInRange(value: number, { minimum, maximum, exclusiveMinimum }: Schema): boolean {
  if (minimum !== undefined && value < minimum) return false;
  if (maximum !== undefined && value > maximum) return false;
  return exclusiveMinimum === undefined || value > exclusiveMinimum;
}

function itemsFit(list: readonly Json[], { items }: Schema): boolean {
  return items === undefined || list.every((item) => fits(item, items));
}

function keysFit(map: JsonObject, { properties, additionalProperties, required }: Schema): boolean {
  if (required?.some((key) => map[key] === undefined)) return false;
  for (const key in map) {
    const isKnown = properties !== undefined && Object.hasOwn(properties, key);
    const ofKey = isKnown ? properties[key] : additionalProperties;
    if (typeof ofKey === 'object' && !fits(map[key] ?? null, ofKey)) return false;
  }
  return true;
}

type Conditions = NonNullable<Schema['allOf']>;

const conditionsOfRules = new Map<Conditions, Conditions>();

/** The conditions to check: `with`, which other conditions are about, is replaced by `executor` before. */
function conditionsOf(all: Conditions): Conditions {
  const kept = conditionsOfRules.get(all);
  if (kept !== undefined) return kept;
  const conditions = all.filter((part) => part.if !== undefined && part.then?.properties?.['with'] === undefined);
  conditionsOfRules.set(all, conditions);
  return conditions;
}

function meets(value: Json, { if: condition = {}, then = {} }: Conditions[number]): boolean {
  return !fits(value, condition) || fits(value, then);
}
