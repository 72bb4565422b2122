import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { checkFile } from '#service/workflows/check-files.ts';
import { checkText, checkWorkflow } from '#service/workflows/load-workflow.ts';
import { getWorkflow } from '#service/workflows/workflows.ts';

const dir = mkdtempSync(join(tmpdir(), 'wf-unset-'));
afterAll(() => rmSync(dir, { recursive: true }));

const text = 'params: [ENV=test]\nsteps:\n  - {name: a, command: echo $ENVV $OUTSIDE}\n';
writeFileSync(join(dir, 'a.yaml'), text);
const directories = { cwd: dir, dagsDir: dir, base: null };
const environment = ['OUTSIDE'];
const messages = ({ diagnostics }: { readonly diagnostics: readonly { readonly message: string }[] }) =>
  diagnostics.map(({ message }) => message);

it('a check of a file warns about an unset variable', () => {
  expect(messages(checkFile({ name: 'a' }, directories, { environment }))).toEqual(['step "a": nothing sets "$ENVV"']);
});

it('names the dotenv file beside the file that sets the variable', () => {
  const steps = 'steps:\n  - {name: a, command: echo $SET $OTHER}\n';
  writeFileSync(join(dir, 'dotenv.yaml'), steps);
  const helps = (name: string) => checkFile({ name }, directories, { environment }).diagnostics.map(({ help }) => help);
  const usual = (name: string) => `Declare it under "params" or "env"; write "\${${name}:-}" where it may be missing.`;
  expect(helps('dotenv')).toEqual([usual('SET'), usual('OTHER')]);
  writeFileSync(join(dir, '.env'), '# values\nexport SET=1\n');
  try {
    const named = 'The file ".env" beside it does, but is not read: write "dotenv: .env" at the top.';
    expect(helps('dotenv')).toEqual([named, usual('OTHER')]);
    writeFileSync(join(dir, '.env'), 'SET=1\nnot an assignment\n');
    expect(helps('dotenv')).toEqual([usual('SET'), usual('OTHER')]);
  } finally {
    rmSync(join(dir, '.env'));
  }
});

it('a check of a text warns about it too', async () => {
  const checked = await checkText(text, directories, { check: checkWorkflow, environment });
  expect(messages(checked)).toEqual(['step "a": nothing sets "$ENVV"']);
});

it.each([
  ['env: {A: $MISSING}', ['"env": nothing sets "$MISSING"']],
  [
    'env:\n  - A: one\n  - B: ${AA}/$A\n  - C=`echo $MISSING $OUTSIDE`',
    ['"env": nothing sets "$AA"', '"env": nothing sets "$MISSING"'],
  ],
  [
    'params: A=$MISSING B=$A "C=`echo ${MISSING2}`"',
    ['"params": nothing sets "$MISSING"', '"params": nothing sets "$MISSING2"'],
  ],
  [
    'params: [A=$MISSING, {B: "$A ${MISSING2}"}, plain]',
    ['"params": nothing sets "$MISSING"', '"params": nothing sets "$MISSING2"'],
  ],
  ['params: {A: $MISSING, B: null}', ['"params": nothing sets "$MISSING"']],
  [
    'preconditions: [{condition: $MISSING, expected: yes}, test -e $MISSING2]',
    ['"preconditions": nothing sets "$MISSING"', '"preconditions": nothing sets "$MISSING2"'],
  ],
  ['env: {A: "$OUT"}', ['"env": nothing sets "$OUT"']],
  ['params: A=$E\nenv: {E: "$HOME ${X:-1} \\\\$Y $OUTSIDE $PATH $TOKEN"}\nsecrets: [{name: TOKEN, env: OUTSIDE}]', []],
])('a check warns about variables that are unset before the first step: %s', async (top, expected) => {
  const whole = `${top}\nsteps:\n  - {name: a, command: "true", output: OUT}\n`;
  const checked = await checkText(whole, directories, { check: checkWorkflow, environment });
  expect(messages(checked)).toEqual(expected);
});

it('the warning points at the name in a default', async () => {
  const whole =
    'params:\n  - {HOST: example.org}\n  - {URL: "https://$HOTS/"}\nsteps:\n  - {name: a, command: echo $URL}\n';
  const { diagnostics } = await checkText(whole, directories, { check: checkWorkflow, environment });
  expect(diagnostics).toMatchObject([
    {
      position: { start: { line: 3, column: 21 }, end: { line: 3, column: 25 } },
      label: expect.stringContaining('HOST'),
    },
  ]);
});

it('a run does not warn about it', () => {
  expect(getWorkflow({ name: 'a' }, directories).warnings).toEqual([]);
});
