import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createWorkflowEditor, type WorkflowEditor } from '#service/workflows/workflow-editor.ts';

const rule = 'a name has letters, digits, spaces and _ . + -, and begins with a letter, a digit or _';

test.each(['a', '_a', '1 + 1', 'été.v2-b', 'x'.repeat(200)])('%j is a valid name of a workflow', async (name) => {
  const { editor, dagsDir } = world();

  expect(await editor.create(name)).toBe(join(dagsDir, `${name}.yaml`));
  expect(readdirSync(dagsDir)).toEqual([`${name}.yaml`]);
});

test.each(['', '.a', '-a', '+a', 'a/b', 'a\nb', 'a*'])(
  '%j is rejected as a name with the rule for names',
  async (name) => {
    const { editor, dagsDir } = world();

    const error = { code: 'usage', message: `"${name}" cannot be the name of a workflow`, help: rule };
    await expect(editor.create(name)).rejects.toEqual(expect.objectContaining(error));
    expect(readdirSync(dagsDir)).toEqual([]);
  },
);

test('only the beginning of a too long name is printed, in whole characters', async () => {
  const { editor, dagsDir } = world();
  const refused = async (name: string, start: string, bytes: number) => {
    const message = `"${start}..." cannot be the name of a workflow: it has ${bytes} bytes`;
    const error = { code: 'usage', message, help: 'a name has at most 200 bytes' };
    await expect(editor.create(name)).rejects.toEqual(expect.objectContaining(error));
  };

  await refused('x'.repeat(201), 'x'.repeat(40), 201);
  await refused('x'.repeat(100_000), 'x'.repeat(40), 100_000);
  await refused(`x${'𝒳'.repeat(60)}`, `x${'𝒳'.repeat(39)}`, 241);
  expect(readdirSync(dagsDir)).toEqual([]);
});

function world(): { readonly editor: WorkflowEditor; readonly dagsDir: string } {
  const dagsDir = mkdtempSync(join(tmpdir(), 'wf-editor-'));
  onTestFinished(() => rmSync(dagsDir, { recursive: true }));
  const editor = createWorkflowEditor({
    directories: { dagsDir, base: join(dagsDir, 'base.yaml') },
    catalog: { list: () => [], refresh: async () => {} },
    suspensions: { endOf: () => null, suspendedUntil: () => null, set: () => {}, move: () => {}, stamp: () => '' },
  });
  return { editor, dagsDir };
}
