// Generates two files in src/language/schema/generated/ from src/language/schema/workflow.schema.json: validate.cjs, a
// validation function that does not need ajv, so that the program contains no schema compiler; and reading-schema.mjs,
// the schema without its documentation, which only `wf schema` and editors need. Every run loads the schema, and only an
// invalid file the function, by `require()`.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorType, writeValidators } from './standalone.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const target = join(root, 'src/language/schema/generated');

const DOCUMENTATION = ['title', 'description', 'examples', 'default', 'deprecated', 'x-dagu-2'];

const schema = JSON.parse(readFileSync(join(root, 'src/language/schema/workflow.schema.json'), 'utf8'));
const references = JSON.stringify(schema);
const essentials = essential(schema);
delete essentials.$schema;

/**
 * What the reader (src/language/read/read.ts) leaves to check: it reports unknown keys and resolves aliases itself, and
 * src/language/check/ reports missing commands. Without those and the documentation the generated code is a
 * tenth of the size.
 */
function essential(value, key = '') {
  if (Array.isArray(value)) return value.map((item) => essential(item));
  if (typeof value !== 'object' || value === null) return value;
  const isKeyword = key !== 'properties' && key !== '$defs';
  const entries = Object.entries(value).filter(([name, part]) => {
    if (isKeyword) return !isLeftOut(name, part);
    return part['x-alias-of'] === undefined;
  });
  const result = Object.fromEntries(entries.map(([name, part]) => [name, essential(part, isKeyword ? name : '')]));
  if (key === '$defs') result.handler = { $ref: '#/$defs/step' };
  return isKeyword && result.properties !== undefined ? withGroups(result) : result;
}

/**
 * Keys of a map with equal schemas, such as most Docker settings, share one check: a pattern of their names. Targets of
 * a `$ref` stay in place.
 */
function withGroups({ properties, ...map }) {
  const groups = {};
  for (const [name, part] of Object.entries(properties)) {
    const kind = references.includes(`/properties/${name}"`) ? name : JSON.stringify(part);
    groups[kind] = [...(groups[kind] ?? []), name];
  }
  const shared = Object.values(groups).filter((names) => names.length >= 3);
  const patterns = shared.map((names) => [`^(?:${names.join('|')})$`, properties[names[0]]]);
  const own = Object.entries(properties).filter(([name]) => !shared.some((names) => names.includes(name)));
  return { ...map, properties: Object.fromEntries(own), patternProperties: Object.fromEntries(patterns) };
}

function isLeftOut(keyword, part) {
  const read = ['patternProperties', 'anyOf', 'x-alias-of', 'x-seconds', 'x-number'];
  if (keyword === 'additionalProperties') return part === false;
  if (keyword === 'allOf')
    return part.some((item) => item.anyOf !== undefined || item.then?.properties?.with !== undefined);
  return DOCUMENTATION.includes(keyword) || read.includes(keyword);
}

/** The part of the schema used for reading: everything but its documentation. */
function withoutDocumentation(value, isKeyword = true) {
  if (Array.isArray(value)) return value.map((item) => withoutDocumentation(item));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([name]) => !isKeyword || !DOCUMENTATION.includes(name));
  const holdsNames = (name) => isKeyword && ['properties', 'patternProperties', '$defs'].includes(name);
  return Object.fromEntries(entries.map(([name, part]) => [name, withoutDocumentation(part, !holdsNames(name))]));
}

/**
 * As text to be parsed, which V8 reads faster than the equivalent code, and caches as one string. Each definition is
 * parsed when it is first asked for: most files need few.
 */
function asModule({ $defs, ...rest }) {
  const texts = Object.entries($defs).map(([name, part]) => `  ${JSON.stringify(name)}: ${quoted(part)},\n`);
  return `const texts = {
${texts.join('')}};

const $defs = {};
for (const name of Object.keys(texts)) {
  let parsed;
  const get = () => (parsed ??= JSON.parse(texts[name]));
  Object.defineProperty($defs, name, { enumerable: true, get });
}

export default { ...JSON.parse(${quoted(rest)}), $defs };
`;
}

function quoted(value) {
  return JSON.stringify(JSON.stringify(value));
}

mkdirSync(target, { recursive: true });
writeValidators(join(target, 'validate.cjs'), { validate: essentials });
writeFileSync(join(target, 'validate.d.cts'), `${errorType}export declare const validate: Validate;\n`);
writeFileSync(join(target, 'reading-schema.mjs'), asModule(withoutDocumentation(schema)));
writeFileSync(join(target, 'reading-schema.d.mts'), 'declare const schema: unknown;\nexport default schema;\n');
