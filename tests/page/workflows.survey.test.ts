import { expect, it } from 'vitest';
import { browserPath } from '../support/browser.ts';
import { describeWith } from '../support/require.ts';
import { accessibilityProblems, withPage } from './visits.ts';

const files = {
  'hello.yaml': 'description: says hello\ntags: [daily, greeting]\nsteps:\n  - name: greet\n    command: echo hello\n',
  'ops/backup.yaml': 'tags: [daily]\nschedule: "0 2 * * *"\nsteps:\n  - name: dump\n    command: echo dump\n',
  'broken.yaml': 'steps:\n  - name: one\n    comand: echo one\n',
};

describeWith('chromium', browserPath !== null, 'the list of workflows in a browser', () => {
  it('has every workflow by folder, with the problems of invalid files first', async () => {
    await withPage(files, async ({ open }) => {
      const page = await open('/');
      const rows = page.locator('.row');
      await rows.nth(2).waitFor();

      expect(await rows.locator('.name').allTextContents()).toEqual(['broken.yaml', 'hello', 'backup']);
      expect(await rows.nth(0).textContent()).toContain('error unknown key "comand" in step "one" broken.yaml:3:5');
      expect(await page.locator('.frame mark').textContent()).toBe('comand');
      expect(await rows.nth(1).textContent()).toContain('never run');
      expect(await page.getByRole('heading', { name: 'ops' }).isVisible()).toBe(true);
      expect(await accessibilityProblems(page)).toEqual([]);
    });
  });

  it('is filtered by text, tag and status, and keeps the filter in the address', async () => {
    await withPage(files, async ({ open }) => {
      const page = await open('/');
      const names = () => page.locator('.row .name').allTextContents();
      await page.locator('.row').nth(2).waitFor();

      await page.getByRole('searchbox').fill('GREET');
      await expect.poll(names).toEqual(['hello']);
      await page.getByRole('searchbox').fill('');
      await page.getByRole('button', { name: '#daily' }).first().click();
      await expect.poll(names).toEqual(['hello', 'backup']);
      expect(new URL(page.url()).search).toBe('?tag=daily');
      await page.reload();
      await expect.poll(names).toEqual(['hello', 'backup']);
      await page.getByRole('button', { name: '#daily ×' }).click();
      await page.getByRole('button', { name: 'broken 1' }).click();
      await expect.poll(names).toEqual(['broken.yaml']);
    });
  });

  it('shows the schedule in words, the next three starts, and the usual duration', async () => {
    await withPage(files, async ({ open, start }) => {
      for (let n = 0; n < 3; n++) await start('hello');
      const page = await open('/');
      const row = page.locator('.row', { hasText: 'hello' });
      await expect.poll(() => row.locator('.last').textContent()).toMatch(/succeeded .* \(~0\.\ds\)/);
      await page.getByRole('link', { name: 'backup', exact: true }).click();

      const facts = page.locator('.facts');
      await facts.getByText('At 02:00, every day').waitFor();
      expect(await facts.getByTitle('0 2 * * *').count()).toBe(1);
      expect(await facts.textContent()).toMatch(/next in .*\((\d{4}-\d\d-\d\d 02:00:00( UTC)?(, )?){3}\)/);
      expect(await accessibilityProblems(page)).toEqual([]);
    });
  });

  it('works below a base path, on a phone', async () => {
    await withPage(
      files,
      async ({ open }) => {
        const page = await open('/', { viewport: { width: 360, height: 740 } });
        await page.locator('.row').nth(2).waitFor();

        expect(new URL(page.url()).pathname).toBe('/tools/wf/');
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
        expect(await accessibilityProblems(page)).toEqual([]);
      },
      { options: ['--base-path', '/tools/wf'] },
    );
  });

  it('shows the first steps if there are no workflows', async () => {
    await withPage({}, async ({ open }) => {
      const page = await open('/');
      await page.getByRole('heading', { name: 'No workflows yet' }).waitFor();

      expect(await page.locator('pre').textContent()).toBe('wf init hello.yaml');
      expect(await accessibilityProblems(page)).toEqual([]);
    });
  });
});
