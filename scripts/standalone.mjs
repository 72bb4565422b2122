import { createRequire } from 'node:module';
import { buildSync } from 'esbuild';

const require = createRequire(import.meta.url);
// Not the class for the schemas' draft: its additions (dynamic references, `unevaluated...`) are not used and would be
// a tenth of the generated code.
const Ajv = require('ajv').default;
const standaloneCode = require('ajv/dist/standalone/index.js').default;

/**
 * Writes a module of validation functions that do not need ajv. `schemas`: by the names of their exports. A function
 * returns whether a value is valid; its property `errors` has the violations, as `errorType` describes them. `more`:
 * code to append.
 */
export function writeValidators(outfile, schemas, more = '') {
  const ajv = new Ajv({
    schemas: Object.entries(schemas).map(([name, schema]) => ({ ...schema, $id: name })),
    allErrors: true,
    allowUnionTypes: true,
    messages: false,
    inlineRefs: false,
    strictTypes: 'log',
    formats: { 'date-time': true },
    keywords: ['x-expected', 'x-may-be-empty'],
    code: { source: true, esm: true, lines: false },
  });
  const names = Object.fromEntries(Object.keys(schemas).map((name) => [name, name]));
  const code = short(linear(withValues(standaloneCode(ajv, names))));
  buildSync({
    stdin: { contents: `${code}\n${more}`, resolveDir: import.meta.dirname, sourcefile: 'validate.mjs' },
    outfile,
    bundle: true,
    format: outfile.endsWith('.cjs') ? 'cjs' : 'esm',
    platform: 'neutral',
    mainFields: ['main'],
    minifySyntax: true,
    logLevel: 'error',
  });
}

/** The declaration of the type of errors. */
export const errorType = `/** One way in which a value does not fit the schema. */
export type SchemaError = {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
};
/** Returns whether the value is valid; \`errors\` lists the violations until the next call. */
export type Validate = { (value: unknown): boolean; errors?: readonly SchemaError[] | null };
`;

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
  const error =
    /const (err\d+) = \{instancePath(?::(.*?))?,schemaPath:".*?",keyword:("\w+"),params:(\{.*?\})(?:,propertyName:\w+)?\};/;
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
