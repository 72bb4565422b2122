import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { settingsOf } from '#language/forms/action-settings.ts';
import { actionNames } from '#language/forms/dagu-3-actions.ts';
import { loadWorkflow } from '#language/load.ts';
import { daguSchema } from '#language/schema/dagu-schema.ts';
import { blocksOf } from '../../docs/guide-blocks.ts';
import { samplesOf } from '../forms/samples.ts';

const validate = new Ajv({ strict: false, validateFormats: false }).compile(daguSchema());

/** Whether every document of a text is valid by the schema. */
function isValid(text: string): boolean {
  return parseAllDocuments(text).every((document) => validate(document.toJS()));
}

describe('the schema of the form of Dagu 2.15', () => {
  const read = (file: string) => readFileSync(join(import.meta.dirname, '../../..', file), 'utf8');
  const blocks = blocksOf(read('docs/guide/from-blackdagger-or-dagu.md'))
    .filter(({ language, text }) => language === 'yaml' && /run:|action:/.test(text))
    .map(({ line, text }) => ({ name: `line ${line} of the guide`, text }));
  const fixture = { name: 'the fixture', text: read('fixtures/workflows/dagu-3/workflow.yaml') };
  const samples = [...samplesOf('dagu-2.15.txt'), ...blocks, fixture];
  const steps = (step: string) => `steps:\n  - {id: a, ${step}}\n`;

  it.each(samples.map(({ name, text }) => [name, text] as const))('accepts what wf accepts: %s', (_, text) => {
    const { workflow } = loadWorkflow({ text, file: null, dir: '/' });
    expect({ valid: isValid(text), errors: validate.errors }).toMatchObject({ valid: workflow !== null });
  });

  it.each([
    'run: echo a, with: {shell: bash, shell_args: [-e]}, retry_policy: {limit: 2, interval_sec: 1}',
    'Run: [echo a, echo b], timeoutSec: 2m',
    'action: http.request, with: {url: "http://a", method: POST, body: x, silent: true}',
    'action: docker.run, with: {image: alpine, pull: never, command: ls, volumes: ["/a:/b"]}',
    'action: docker.run, with: {image: alpine, host: {binds: ["/a:/b"]}, auto_remove: true}',
    'action: file.write, with: {path: a, content: b, create_dirs: true, createDirs: true}',
    'command: echo a',
    'output: {a: b}',
  ])('accepts {%s}', (step) => {
    expect({ valid: isValid(steps(step)), errors: validate.errors }).toMatchObject({ valid: true });
  });

  it.each([
    'run: echo a, actoin: noop',
    'run: echo a, with: {shel: bash}',
    'run: echo a, command: echo b',
    'run: {a: b}',
    'action: noop, run: echo a',
    'action: file.raed, with: {path: a}',
    'action: k8s.run',
    'action: acme/notify@v2',
    'action: file.read',
    'action: file.read, with: {paht: a}',
    'action: file.write, with: {path: a, content: b, overwrite: 5}',
    'action: http.request, with: {url: "http://a", timout: 5}',
    'action: jq.filter, with: {data: {a: 1}}',
    'foreach: {items: [1]}',
    'foreach: {items: [1], steps: []}',
    'foreach: {items: [1], steps: [{run: echo a}], until: x}',
    'foreach: {items: [1], steps: [{run: echo a, actoin: noop}]}',
    'depends: b',
  ])('refuses {%s}, as wf does', (step) => {
    expect(isValid(steps(step))).toBe(false);
    expect(loadWorkflow({ text: `# dagu: 3\n${steps(step)}`, file: null, dir: '/' }).workflow).toBeNull();
  });

  it('accepts the names of actions of the file', () => {
    const text = 'actions: {hi: {input_schema: {type: object}, template: {run: echo a}}}\nsteps: [{action: hi}]\n';
    expect(isValid(text)).toBe(true);
    expect(isValid(text.replace('template', 'templete'))).toBe(false);
    expect(isValid(`consts: [{a: b, c: d}]\n${steps('run: echo a')}`)).toBe(false);
  });

  it('has the settings of each action, by which wf does not report a missing or an unknown one', () => {
    for (const action of actionNames()) {
      const { required, names } = settingsOf(action);
      const codes = (given: readonly string[]) => {
        const settings = Object.fromEntries(given.map((name) => [name, /^(?:container|host)$/.test(name) ? {} : 1]));
        const text = JSON.stringify({ steps: [{ id: 'a', action, with: settings }] });
        const { diagnostics } = loadWorkflow({ text, file: null, dir: '/' });
        return diagnostics.map(({ code, message }) => `${code}: ${message}`);
      };
      const missing = codes([]).filter((line) => line.startsWith('missing-key: the action'));
      expect(missing.length >= required.length, `${action} needs ${required}`).toBe(true);
      const refused = names
        .flatMap((name) => codes([name]))
        .filter((line) => /is not supported|unknown key/.test(line));
      expect({ action, refused }).toEqual({ action, refused: [] });
    }
  });
});
