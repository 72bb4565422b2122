// Generates two files in src/language/schema/generated/ from src/language/schema/workflow.schema.json: validate.mjs, a
// validation function that does not need ajv, so that the program contains no schema compiler; and reading-schema.mjs,
// the schema without its documentation, which only `wf schema` and editors need. Every run loads both, so both are kept
// small.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const require = createRequire(import.meta.url);
// Not the class for the schema's draft: its additions (dynamic references, `unevaluated...`) are not used and would be
// a tenth of the generated code.
const Ajv = require('ajv').default;
const standaloneCode = require('ajv/dist/standalone/index.js').default;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const target = join(root, 'src/language/schema/generated');

const types = `/** One way in which a value does not fit the schema. */
export type SchemaError = {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
};
/** Whether the value is valid; \`errors\` lists the violations until the next call. */
declare const validate: { (value: unknown): boolean; errors?: readonly SchemaError[] | null };
export default validate;
`;

const DOCUMENTATION = ['title', 'description', 'examples', 'default', 'deprecated'];

const schema = JSON.parse(readFileSync(join(root, 'src/language/schema/workflow.schema.json'), 'utf8'));
const references = JSON.stringify(schema);
const essentials = essential(schema);
delete essentials.$schema;
const ajv = new Ajv({
  allErrors: true,
  allowUnionTypes: true,
  messages: false,
  inlineRefs: false,
  strictTypes: 'log',
  code: { source: true, esm: true, lines: false },
});
const code = short(linear(withValues(standaloneCode(ajv, ajv.compile(essentials)))));

/**
 * The generated code copies all previous errors for each failing part: a list of 100,000 wrong entries takes minutes.
 * Appending is linear; the arrays belong to one call each.
 */
function linear(generated) {
  const copying = /vErrors === null \? (\w+)\.errors : vErrors\.concat\(\1\.errors\)/g;
  const appending = generated.replace(copying, 'append(vErrors, $1.errors)');
  if (appending.includes('.concat(')) throw new Error('the generated code joins errors in a way not known here');
  return `${appending}
function append(all, more) {
  if (all === null) return more;
  for (const error of more) all.push(error);
  return all;
}`;
}

/** The generated code reads its values from copies of the schema; inlining the values removes the copies. */
function withValues(generated) {
  const copies = generated.matchAll(/const (schema\d+) = (\{.*?\});/g);
  const schemas = new Map([...copies].map(([, name, text]) => [name, JSON.parse(text)]));
  return generated.replace(/\b(schema\d+)((?:\.\w+|\["[^"]+"\]|\[\d+\])+)/g, (_, name, path) => {
    let value = schemas.get(name);
    for (const [, key, quoted, index] of path.matchAll(/\.(\w+)|\["([^"]+)"\]|\[(\d+)\]/g)) {
      value = value[key ?? quoted ?? Number(index)];
    }
    return JSON.stringify(value);
  });
}

/**
 * Only position, keyword and parameters of an error are used: a call that records them is a third of the size of ajv's
 * code.
 */
function short(generated) {
  const error = /const (err\d+) = \{instancePath(?::(.*?))?,schemaPath:".*?",keyword:("\w+"),params:(\{.*?\})\};/;
  const push = /if\(vErrors === null\)\{vErrors = \[\1\];\}else \{vErrors\.push\(\1\);\}/;
  const noting = generated.replace(new RegExp(error.source + push.source, 'g'), (_, _name, place, keyword, params) => {
    return `vErrors = note(vErrors, ${place ?? 'instancePath'}, ${keyword}, ${params});`;
  });
  if (noting.includes('schemaPath:')) throw new Error('the generated code makes errors in a way not known here');
  return `${noting}
function note(errors, instancePath, keyword, params) {
  return append(errors, [{ instancePath, keyword, params }]);
}`;
}

/**
 * What the reader (src/language/read/read.ts) leaves to check: it reports unknown keys and resolves aliases itself, and
 * src/language/check-step.ts reports missing commands. Without those and the documentation the generated code is a
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
  const read = ['patternProperties', 'anyOf', 'x-alias-of'];
  if (keyword === 'additionalProperties') return part === false;
  if (keyword === 'allOf') return part.every((item) => item.anyOf !== undefined);
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

/** As text to be parsed, which V8 reads faster than the equivalent code, and caches as one string. */
function asModule(value) {
  return `export default JSON.parse(${JSON.stringify(JSON.stringify(value))});\n`;
}

mkdirSync(target, { recursive: true });
buildSync({
  stdin: { contents: code, resolveDir: root, sourcefile: 'validate.mjs' },
  outfile: join(target, 'validate.mjs'),
  bundle: true,
  format: 'esm',
  platform: 'neutral',
  mainFields: ['main'],
  minifySyntax: true,
  logLevel: 'error',
});
writeFileSync(join(target, 'validate.d.mts'), types);
writeFileSync(join(target, 'reading-schema.mjs'), asModule(withoutDocumentation(schema)));
writeFileSync(join(target, 'reading-schema.d.mts'), 'declare const schema: unknown;\nexport default schema;\n');
