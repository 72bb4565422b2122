const typeNames: { readonly [type: string]: string } = {
  string: 'text',
  array: 'list',
  object: 'map',
  integer: 'whole number',
  boolean: 'true or false',
};

/** The type of a value for people, such as `text or list`, or its words: `graph | chain`. */
export function typeText(schema: {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
}): string {
  const words = schema.enum?.filter((value) => typeof value === 'string') ?? [];
  if (words.length > 0) return words.join(' | ');
  const types = schema.type === undefined ? [] : [schema.type].flat();
  return types.map((type) => typeNames[type] ?? type).join(' or ');
}
