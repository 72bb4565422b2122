/**
 * Returns the schemas of the queries and bodies of all operations of the expanded document, by operation:
 * `{listRuns: {query: {...}}}`, without references, and with the documentation of required fields only.
 */
export function requestSchemas({ paths, components }) {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const inlined = (schema) => essential(withoutReferences(schema, components.schemas));
  return Object.fromEntries(
    operations.flatMap(({ operationId, parameters = [], requestBody }) => {
      const query = parameters.filter((each) => each.in === 'query');
      const body = requestBody?.content['application/json']?.schema;
      if (query.length === 0 && body === undefined) return [];
      const parts = {
        ...(query.length === 0 ? {} : { query: objectOf(query) }),
        ...(body === undefined ? {} : { body }),
      };
      return [
        [operationId, Object.fromEntries(Object.entries(parts).map(([part, schema]) => [part, inlined(schema)]))],
      ];
    }),
  );
}

function objectOf(parameters) {
  const required = parameters.filter((each) => each.required).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(
      parameters.map(({ name, description, schema }) => [name, { description, ...schema }]),
    ),
    ...(required.length === 0 ? {} : { required }),
  };
}

function withoutReferences(value, schemas) {
  if (Array.isArray(value)) return value.map((each) => withoutReferences(each, schemas));
  if (typeof value !== 'object' || value === null) return value;
  if (value.$ref !== undefined) return withoutReferences(schemas[value.$ref.split('/').at(-1)], schemas);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withoutReferences(each, schemas)]));
}

function essential(schema, isKeyword = true) {
  if (Array.isArray(schema)) return schema.map((each) => essential(each));
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).filter(
    ([key]) => !isKeyword || !/^(?:description|example|x-narrow)$/.test(key),
  );
  const result = Object.fromEntries(
    entries.map(([key, each]) => [key, essential(each, !isKeyword || key !== 'properties')]),
  );
  // Messages about missing fields explain them.
  for (const name of isKeyword ? (schema.required ?? []) : []) {
    const { description } = schema.properties[name];
    if (description !== undefined) result.properties[name] = { description, ...result.properties[name] };
  }
  return result;
}

/** Returns the TypeScript types of all requests: null stands for what is not given and has no default. */
export function requestTypes(schemas) {
  const of = (part) =>
    Object.entries(schemas)
      .filter(([, parts]) => parts[part] !== undefined)
      .map(([id, parts]) => `  readonly ${id}: ${givenType(parts[part])};`)
      .join('\n');
  return `/** The parameters of queries by operation. */
export type Queries = {\n${of('query')}\n};
/** The fields of bodies by operation. */
export type Bodies = {\n${of('body')}\n};
`;
}

function givenType({ properties, required = [] }) {
  const fields = Object.entries(properties).map(([name, schema]) => {
    const given = typeOf(schema).filter((type) => type !== 'null');
    const isGiven = required.includes(name) || schema.default !== undefined;
    return `readonly ${JSON.stringify(name)}: ${(isGiven ? given : [...given, 'null']).join(' | ')}`;
  });
  return `{ ${fields.join('; ')} }`;
}

/** Returns the alternatives of a type. */
function typeOf({ type, enum: words, const: word, anyOf, items, properties, required = [], additionalProperties }) {
  if (words !== undefined) return words.map((each) => JSON.stringify(each));
  if (word !== undefined) return [JSON.stringify(word)];
  if (anyOf !== undefined) return [...new Set(anyOf.flatMap(typeOf))];
  return [type].flat().map((each) => {
    if (each === 'array') return `readonly (${typeOf(items).join(' | ')})[]`;
    if (each === 'integer') return 'number';
    if (each !== 'object') return each;
    if (properties === undefined) return `{ readonly [name: string]: ${typeOf(additionalProperties).join(' | ')} }`;
    const fields = Object.entries(properties).map(([name, schema]) => {
      return `readonly ${name}${required.includes(name) ? '' : '?'}: ${typeOf(schema).join(' | ')}`;
    });
    return `{ ${fields.join('; ')} }`;
  });
}
