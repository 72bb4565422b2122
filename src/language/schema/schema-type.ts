/** The part of JSON Schema that `workflow.schema.json` uses. */
export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: { readonly [key: string]: Schema };
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly pattern?: string;
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
  readonly allOf?: readonly { readonly if?: Schema; readonly then?: Schema }[];
  readonly $defs?: { readonly [name: string]: Schema };
  /** The key that this one is an alias of. */
  readonly 'x-alias-of'?: string;
  /** A key of Dagu 2 that is accepted for other keys of `wf`, or ignored: editors do not offer it. */
  readonly 'x-dagu-2'?: true;
  /** A number of seconds, for which a length such as `2d12h` may stand. */
  readonly 'x-seconds'?: true;
  /** A number for which a text that is one variable may stand. */
  readonly 'x-number'?: true;
};

/** Whether editors offer a key with this schema, which is no second name of another key. */
export function isOffered(schema: Pick<Schema, 'x-alias-of' | 'x-dagu-2'>): boolean {
  return schema['x-alias-of'] === undefined && schema['x-dagu-2'] === undefined;
}

const typeNames: { readonly [type: string]: string } = {
  string: 'text',
  array: 'list',
  object: 'map',
  integer: 'whole number',
  boolean: 'true or false',
};

/** The type of a value for people, such as `text or list`, or all that it can be: `graph | chain`. */
export function typeText(schema: Pick<Schema, 'type' | 'enum' | 'x-number'>): string {
  if (schema.enum !== undefined) return schema.enum.join(' | ');
  const types = schema.type === undefined ? [] : [schema.type].flat();
  const names = schema['x-number'] === true ? { ...typeNames, string: 'variable' } : typeNames;
  return types.map((type) => names[type] ?? type).join(' or ');
}

/** The form in which keys are compared: case and `_` are ignored, so that `handler_on` is `handlerOn`. */
export function canonicalKey(key: string): string {
  return key.replaceAll('_', '').toLowerCase();
}
