import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { checkFile } from '../../../src/service/workflows/check-files.ts';
import { checkText } from '../../../src/service/workflows/check-text.ts';
import { checkWorkflow } from '../../../src/service/workflows/load-workflow.ts';
import { getWorkflow } from '../../../src/service/workflows/workflows.ts';

const dir = mkdtempSync(join(tmpdir(), 'wf-unset-'));
afterAll(() => rmSync(dir, { recursive: true }));

const text = 'params: [ENV=test]\nsteps:\n  - {name: a, command: echo $ENVV $OUTSIDE}\n';
writeFileSync(join(dir, 'a.yaml'), text);
const places = { cwd: dir, dagsDir: dir, base: null };
const environment = ['OUTSIDE'];
const messages = ({ diagnostics }: { readonly diagnostics: readonly { readonly message: string }[] }) =>
  diagnostics.map(({ message }) => message);

it('a check of a file warns of a variable that nothing sets', () => {
  expect(messages(checkFile({ name: 'a' }, places, environment))).toEqual(['step "a": nothing sets "$ENVV"']);
});

it('a check of a text warns of it too', async () => {
  const checked = await checkText(text, places, { check: checkWorkflow, environment });
  expect(messages(checked)).toEqual(['step "a": nothing sets "$ENVV"']);
});

it('a run does not warn of it', () => {
  expect(getWorkflow({ name: 'a' }, places).warnings).toEqual([]);
});
