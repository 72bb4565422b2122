import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import Ajv from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { DiagnosticCode } from '#language/codes.ts';
import { loadWorkflow } from '#language/load.ts';
import { editorSchema } from '#language/schema/editor-schema.ts';
import { documentedSchema } from '#language/schema/schema-doc.ts';
import { blocksOf } from '../../docs/guide-blocks.ts';

const root = resolve(import.meta.dirname, '../../..');
const published = join(root, 'docs/reference/schemas/workflow.json');
const schema = editorSchema(documentedSchema);
const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);

/** A workflow of the project or of the corpus, and the directory of the files it imports. */
type Text = { readonly name: string; readonly text: string; readonly dir: string };

function filesBelow(folder: string): Text[] {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => /\.ya?ml$/.test(name) && statSync(join(folder, name)).isFile(),
  );
  return files.map((name) => {
    const file = join(folder, name);
    return { name: relative(root, file), text: readFileSync(file, 'utf8'), dir: dirname(file) };
  });
}

function blocksIn(folder: string): Text[] {
  const pages = readdirSync(join(root, folder)).filter((name) => name.endsWith('.md'));
  return [...pages.map((page) => `${folder}/${page}`), 'README.md'].flatMap((page) =>
    blocksOf(readFileSync(join(root, page), 'utf8'))
      .filter(({ language, text }) => language === 'yaml' && /^steps:/m.test(text))
      .map(({ line, text }) => ({ name: `${page}:${line}`, text, dir: root })),
  );
}

const corpus = process.env['WF_CORPUS'];
// A file in another form has other keys.
const texts = [
  ...filesBelow(join(root, 'fixtures/workflows')),
  ...filesBelow(join(root, 'fixtures/services')),
  ...filesBelow(join(root, 'fixtures/invalid')),
  ...filesBelow(join(root, 'src/cli/assets/templates')),
  ...blocksIn('docs/guide'),
  ...blocksIn('docs/reference'),
  ...(corpus === undefined ? [] : filesBelow(corpus)),
].filter(({ text, dir }) => loadWorkflow({ text, file: null, dir }).form === undefined);

/** The errors that the reader finds in one text, without its imports. */
function errorsOf({ text, dir }: Text): Set<DiagnosticCode> {
  const { diagnostics } = loadWorkflow({ text, file: null, dir });
  return new Set(diagnostics.filter(({ severity }) => severity === 'error').map(({ code }) => code as DiagnosticCode));
}

/** The text as an editor sees it: with `<<` as written, and merged. Null for text that is not YAML. */
function valuesOf(text: string): readonly unknown[] | null {
  try {
    return [parse(text, { logLevel: 'silent' }), parse(text, { merge: true, logLevel: 'silent' })];
  } catch {
    return null;
  }
}

/** Refused because of what a text contains, a variable or JSON, which a schema cannot detect. */
const aboutText = ['unreplaced-path', 'http-script-keys'].map((name) => `fixtures/invalid/${name}/workflow.yaml`);

const structural: ReadonlySet<DiagnosticCode> = new Set([
  'unknown-key',
  'not-supported',
  'wrong-type',
  'not-a-workflow',
]);

describe('the schema for editors', () => {
  it('accepts every file that wf accepts', () => {
    const accepted = texts.filter((entry) => errorsOf(entry).size === 0);
    const refused = accepted.flatMap(({ name, text }) =>
      (valuesOf(text) ?? []).flatMap((value) =>
        validate(value)
          ? []
          : [{ name, errors: validate.errors?.map((error) => `${error.instancePath} ${error.message}`) }],
      ),
    );
    expect(accepted.length).toBeGreaterThan(100);
    expect(refused).toEqual([]);
  });

  it('rejects every file whose keys or types wf rejects', () => {
    const refused = texts.filter((entry) => {
      const errors = errorsOf(entry);
      return !aboutText.includes(entry.name) && errors.size > 0 && [...errors].every((code) => structural.has(code));
    });
    const accepted = refused.filter(({ text }) => valuesOf(text)?.every((value) => validate(value)) === true);
    expect(refused.length).toBeGreaterThan(5);
    expect(accepted.map(({ name }) => name)).toEqual([]);
  });

  it.each([
    ['numbers as texts', { name: 1, params: 5, steps: [{ name: 1.5, command: 2, args: [3, true] }] }],
    ['keys in other spellings', { handler_on: { EXIT: { Command: 'x' } }, Steps: [{ NAME: 'a', command: 'x' }] }],
    ['settings in other spellings', { steps: [{ name: 'a', command: 'x', retry_policy: { Limit: '3' } }] }],
    ['words for booleans', { steps: [{ name: 'a', command: 'x', continueOn: { failure: 'yes' } }] }],
    ['merges', { steps: [{ '<<': { name: 'a' }, command: 'x' }] }],
    ['keys without a value', { description: null, steps: [{ name: 'a', command: 'x', depends: null }] }],
    [
      "Docker's own spelling",
      {
        steps: [
          {
            name: 'a',
            executor: {
              type: 'docker',
              config: { image: 'i', container: { WorkingDir: '/' }, host: { Binds: ['a:b'] } },
            },
          },
        ],
      },
    ],
  ])('takes %s', (_, workflow) => {
    expect([validate(workflow), validate.errors]).toEqual([true, null]);
  });

  it.each([
    ['an unknown key', { steps: [{ name: 'a', comand: 'x' }] }],
    ['an unknown setting', { steps: [{ name: 'a', executor: { type: 'docker', config: { image: 'i', imag: 'j' } } }] }],
    ['a map for a text', { steps: [{ name: { a: 1 }, command: 'x' }] }],
    ['a word for a number', { steps: [{ name: 'a', command: 'x' }], delaySec: 'soon' }],
    ['a step with nothing to run', { steps: [{ name: 'a' }] }],
    ['a file without steps', { name: 'a' }],
  ])('rejects %s', (_, workflow) => {
    expect(validate(workflow)).toBe(false);
  });

  it('offers neither keys of Dagu 2 nor second names', () => {
    const { properties } = schema as { properties: { [key: string]: { doNotSuggest?: true } } };
    const hidden = Object.keys(properties).filter((key) => properties[key]?.doNotSuggest === true);
    expect(hidden).toEqual(['labels', 'precondition', 'overlapPolicy']);
  });

  it('contains what editors show: descriptions, defaults, snippets and a URL', () => {
    expect(schema).toMatchObject({
      $id: expect.stringMatching(/^https:\/\/.*\/workflow\.json$/),
      $defs: {
        step: {
          properties: {
            retryPolicy: {
              description: expect.any(String),
              properties: { limit: { default: 0 } },
              defaultSnippets: [{ body: { limit: 3, intervalSec: 10 } }, {}],
            },
          },
        },
      },
    });
  });

  it('is published unchanged', () => {
    const text = `${JSON.stringify(schema, null, 2)}\n`;
    if (process.env['WF_UPDATE_GOLDENS'] === '1') writeFileSync(published, text);
    expect(readFileSync(published, 'utf8')).toBe(text);
  });
});
