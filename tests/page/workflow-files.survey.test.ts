import { expect, it } from 'vitest';
import { browserPath } from '../support/browser.ts';
import { describeWith } from '../support/require.ts';
import { accessibilityProblems, withPage } from './visits.ts';

const files = {
  'hello.yaml': 'schedule: "0 2 * * *"\nsteps:\n  - name: greet\n    command: echo hello\n',
  'ops/backup.yaml': 'steps:\n  - name: dump\n    command: echo dump\n',
};

describeWith('chromium', browserPath !== null, 'the files of workflows in a browser', () => {
  it('are created from a template, edited, renamed, copied and deleted', async () => {
    await withPage(
      files,
      async ({ open, read, daemon, start }) => {
        const page = await open('/');
        await page.getByRole('button', { name: 'New' }).click();
        const dialog = page.getByRole('dialog');
        await dialog.getByLabel('Name').fill('backup');
        await dialog.getByLabel('etl').check();
        expect(await accessibilityProblems(page)).toEqual([]);
        await dialog.getByRole('button', { name: 'Create' }).click();
        await dialog.getByText('a workflow "backup" exists already').waitFor();
        await dialog.getByLabel('Name').fill('orders');
        await dialog.getByLabel('Group').fill('../up');
        await dialog.getByRole('button', { name: 'Create' }).click();
        await dialog.getByText('"../up" cannot be a group').waitFor();
        expect(await accessibilityProblems(page)).toEqual([]);
        await dialog.getByLabel('Group').fill('sales');
        await dialog.getByRole('button', { name: 'Create' }).click();

        await page.locator('.cm-content').click();
        await page.getByText('No problems').waitFor();
        expect(read('sales/orders.yaml')).toContain('wf run orders.yaml');
        await page.keyboard.press('Control+Home');
        await page.keyboard.type('# first\n');
        await page.keyboard.press('Control+s');
        await expect.poll(() => read('sales/orders.yaml')).toMatch(/^# first\n/);

        await start('orders');
        const menu = page.getByRole('button', { name: 'More for orders' });
        await menu.focus();
        await page.keyboard.press('Enter');
        await page.getByRole('menuitem', { name: 'Copy' }).waitFor();
        expect(await accessibilityProblems(page)).toEqual([]);
        await page.keyboard.press('Enter');
        await dialog.getByLabel('Name').fill('orders-2');
        await dialog.getByLabel('Group').fill('');
        await dialog.getByRole('button', { name: 'Rename' }).click();
        await page.getByRole('heading', { name: 'orders-2' }).waitFor();
        expect(read('orders-2.yaml')).toMatch(/^# first\n/);

        await page.getByRole('button', { name: 'More for orders-2' }).click();
        await page.getByRole('menuitem', { name: 'Delete' }).click();
        expect(await dialog.textContent()).toContain('Its past runs stay');
        expect(await accessibilityProblems(page)).toEqual([]);
        await dialog.getByRole('button', { name: 'Delete the file' }).click();
        await page.getByRole('heading', { name: 'Workflows' }).waitFor();
        await expect.poll(() => page.locator('.row .name').allTextContents()).toEqual(['hello', 'backup']);
        expect(JSON.parse(await daemon.get('/api/v2/runs')).runs.length).toBe(1);
      },
      { expected: [/status of 4(?:00|12)/] },
    );
  });

  it('are not read under an old name when a run changes during a rename', async () => {
    const waiting = "steps:\n  - name: wait\n    command: sh -c 'until test -e go; do sleep 0.05; done'\n";
    await withPage({ 'old.yaml': waiting }, async ({ open, start, write, daemon }) => {
      const runId = await start('old');
      const page = await open('/w/old.yaml');
      await page.getByRole('list', { name: 'Last runs of old' }).waitFor();
      await page.route('**/rename', async (route) => {
        const response = await route.fetch();
        write('go', '');
        await expect.poll(async () => JSON.parse(await daemon.get(`/api/v2/runs/${runId}`)).status).toBe('succeeded');
        // The page learns of the end within a second.
        await new Promise((resolve) => setTimeout(resolve, 2000));
        await route.fulfill({ response });
      });
      await page.getByRole('button', { name: 'More for old' }).click();
      await page.getByRole('menuitem', { name: 'Rename' }).click();
      await page.getByRole('dialog').getByLabel('Name').fill('new');
      await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
      await page.getByRole('heading', { name: 'new' }).waitFor();
    });
  });

  it('are copied with a suspended schedule', async () => {
    await withPage(files, async ({ open, read, daemon }) => {
      const page = await open('/w/hello.yaml', { viewport: { width: 390, height: 800 } });
      await page.getByRole('button', { name: 'More for hello' }).click();
      await page.getByRole('menuitem', { name: 'Copy' }).click();
      expect(await page.getByRole('checkbox').isChecked()).toBe(true);
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.getByRole('dialog').getByRole('button', { name: 'Copy' }).click();
      await page.locator('.cm-content').waitFor();

      expect(read('hello-copy.yaml')).toBe(files['hello.yaml']);
      const { workflows } = JSON.parse(await daemon.get('/api/v2/workflows'));
      const suspended = workflows.map(({ id, suspended }: { id: string; suspended: boolean }) => [id, suspended]);
      expect(Object.fromEntries(suspended)).toMatchObject({ 'hello.yaml': false, 'hello-copy.yaml': true });
    });
  });
});
