import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { browserPath } from '../support/browser.ts';
import { describeWith } from '../support/require.ts';
import { accessibilityProblems, withPage } from './visits.ts';

const etl = 'description: loads orders\nsteps:\n  - name: extract\n    command: echo 5\n';
const files = {
  'etl.yaml': etl,
  'broken.yaml': 'steps:\n  - name: one\n    comand: echo one\n',
  'ops/moved.yaml': 'imports: [parts]\nsteps:\n  - name: one\n    command: echo one\n    depends: two\n',
  'ops/parts.yaml': 'steps:\n  - name: two\n    command: echo two\n',
};
const path = '/w/etl.yaml?tab=spec&edit=1';

/** The editor with the cursor at the end of the text. */
async function openEditor(page: Page): Promise<void> {
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+End');
}

const state = (page: Page) => page.locator('.editor-bar [role="status"]').textContent();

describeWith('chromium', browserPath !== null, 'the editor of workflow files in a browser', () => {
  it('corrects a broken file from its row in the list', async () => {
    await withPage(files, async ({ open, read }) => {
      const page = await open('/');
      await page.getByRole('link', { name: 'Edit broken.yaml' }).click();
      await page.getByRole('button', { name: 'unknown key "comand" in step "one"' }).waitFor();
      expect(await accessibilityProblems(page)).toEqual([]);

      // The cursor is at the error.
      await page.keyboard.type('m');
      await page.keyboard.press('Delete');
      await page.keyboard.type('com');
      await page.keyboard.press('Home');
      await page.keyboard.press('Shift+End');
      await page.keyboard.type('command: echo two');
      await page.getByText('No problems').waitFor();
      await page.keyboard.press('Control+s');
      await expect.poll(() => state(page)).toBe('Saved');
      expect(read('broken.yaml')).toBe('steps:\n  - name: one\n    command: echo two\n');
      await page.getByRole('link', { name: 'Start' }).waitFor();
      expect(await page.locator('.diagnostics').count()).toBe(0);
    });
  });

  it('completes keys and values, explains keys, and leads to problems', async () => {
    await withPage(files, async ({ open, read }) => {
      const page = await open('/w/etl.yaml?tab=spec');
      await page.getByRole('region', { name: 'Text of' }).waitFor();
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.getByRole('button', { name: 'Edit' }).click();
      await openEditor(page);
      const options = page.locator('.cm-tooltip-autocomplete [role="option"]');

      await page.keyboard.type('    retryP');
      await expect.poll(() => options.allTextContents()).toEqual(['retryPolicymap']);
      await options.first().click();
      await page.keyboard.press('Control+Space');
      await expect.poll(() => options.first().textContent()).toBe('limitwhole number or variable');
      expect(await options.allTextContents()).toContain('intervalSecnumber or variable');
      expect(await options.allTextContents()).not.toContain('dirtext');
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.keyboard.type('limit: 2\n');
      await page.keyboard.press('Escape');
      // The list of problems may still move the text away from the pointer.
      await expect
        .poll(async () => {
          await page.mouse.move(0, 0);
          await page.getByText('retryPolicy', { exact: true }).hover();
          const explanation = page.getByText('Retries after a failure.');
          return explanation.waitFor({ timeout: 1000 }).then(
            () => true,
            () => false,
          );
        })
        .toBe(true);
      expect(await accessibilityProblems(page)).toEqual([]);

      await page.keyboard.type('limit: 3');
      await page.getByRole('button', { name: /duplicate key/ }).click();
      expect(await page.locator('.cm-lint-marker-error').count()).toBe(1);
      await page.keyboard.press('Control+f');
      await page.keyboard.type('limit');
      await expect.poll(() => page.locator('.cm-searchMatch').count()).toBe(2);
      expect(await accessibilityProblems(page)).toEqual([]);
      expect(read('etl.yaml')).toBe(etl);
    });
  });

  it('completes maps in braces on one line and on several', async () => {
    await withPage(files, async ({ open }) => {
      const page = await open(path);
      await openEditor(page);
      const options = page.locator('.cm-tooltip-autocomplete [role="option"]');

      await page.keyboard.type('    repeatPolicy: {limi');
      await expect.poll(() => options.allTextContents()).toEqual(['limitwhole number or variable']);
      await options.first().click();
      await page.keyboard.type('4, inter');
      await expect.poll(() => options.first().textContent()).toBe('intervalSecnumber or variable');
      await options.first().click();
      await page.keyboard.type('2, repeat: true');
      await expect
        .poll(() => page.locator('.cm-line', { hasText: 'repeatPolicy' }).textContent())
        .toBe('    repeatPolicy: {limit: 4, intervalSec: 2, repeat: true}');
      await page.getByText('No problems').waitFor();

      // The closing bracket exists already.
      await page.keyboard.press('Control+End');
      await page.keyboard.type('\nretryPolicy: {\nlimit: 2,\nintervalS');
      await expect.poll(() => options.first().textContent()).toBe('intervalSecnumber or variable');
      await options.first().click();
      await page.keyboard.type('oops');
      await page.getByRole('button', { name: /intervalSec/ }).waitFor();
      await page.keyboard.press('Control+Shift+ArrowLeft');
      await page.keyboard.type('5');
      await page.getByRole('button', { name: /intervalSec/ }).waitFor({ state: 'detached' });
    });
  });

  it('keeps both texts when two people save', async () => {
    await withPage(
      files,
      async ({ open, read, write }) => {
        const page = await open(path);
        await openEditor(page);
        await page.keyboard.type('  - name: mine\ncommand: echo mine');
        await page.getByRole('button', { name: 'Compare' }).click();
        await page.locator('.cm-changedLine').first().waitFor();
        expect(await accessibilityProblems(page)).toEqual([]);
        write('etl.yaml', etl.replace('loads', 'reads'));

        await page.getByRole('button', { name: 'Save', exact: true }).click();
        await page.getByText('Someone else has changed the file.').waitFor();
        await expect.poll(() => page.locator('.cm-deletedChunk').first().textContent()).toContain('reads');
        expect(await accessibilityProblems(page)).toEqual([]);
        expect(read('etl.yaml')).toBe(etl.replace('loads', 'reads'));
        await page.getByRole('button', { name: 'Take theirs' }).first().click();
        await page.getByRole('button', { name: 'Save this text' }).click();
        await expect.poll(() => state(page)).toBe('Saved');
        expect(read('etl.yaml')).toBe(`${etl.replace('loads', 'reads')}  - name: mine\n    command: echo mine`);
      },
      { expected: [/status of 412/] },
    );
  });

  it('saves a text with errors only after a question', async () => {
    await withPage(
      files,
      async ({ open, read }) => {
        const page = await open(path);
        await openEditor(page);
        await page.keyboard.type('nothing: here');
        await page.keyboard.press('Control+s');
        await page.getByText('Not saved: the text has errors.').waitFor();
        expect(await accessibilityProblems(page)).toEqual([]);
        expect(read('etl.yaml')).toBe(etl);

        await page.getByRole('button', { name: 'Save anyway' }).click();
        await expect.poll(() => state(page)).toBe('Saved');
        expect(read('etl.yaml')).toBe(`${etl}nothing: here`);
      },
      { expected: [/status of 422/] },
    );
  });

  it('asks before it discards changes, and keeps them while the daemon does not answer', async () => {
    await withPage(
      files,
      async ({ open, daemon }) => {
        const page = await open('/');
        await page.getByRole('link', { name: 'etl', exact: true }).click();
        await page.getByRole('button', { name: 'Spec' }).click();
        await page.getByRole('button', { name: 'Edit' }).click();
        await openEditor(page);
        await page.keyboard.type('# mine');
        const question = page.getByRole('dialog', { name: 'Discard your changes?' });
        const leaveBy = [
          () => page.getByRole('link', { name: 'Runs', exact: true }).click(),
          () => page.getByRole('button', { name: 'History' }).click(),
          () => page.getByRole('button', { name: 'Cancel' }).click(),
          () => page.goBack(),
          async () => {
            await page.keyboard.press('Control+k');
            await page.getByRole('combobox').fill('runs');
            await page.keyboard.press('Enter');
          },
        ];
        for (const leave of leaveBy) {
          await leave();
          await question.waitFor();
          await question.getByRole('button', { name: 'Cancel' }).click();
          expect(await page.locator('.cm-content').textContent()).toContain('# mine');
        }
        expect(await accessibilityProblems(page)).toEqual([]);

        await daemon.end('SIGKILL');
        await page.getByText('Offline, shown as of').waitFor();
        expect(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true);
        await page.keyboard.press('Control+s');
        await page.getByText('The text stays here.').waitFor();
        expect(await page.locator('.cm-content').textContent()).toContain('# mine');
        await page.getByRole('link', { name: 'Workflows', exact: true }).click();
        await question.getByRole('button', { name: 'Discard the changes' }).click();
        await expect.poll(() => new URL(page.url()).pathname).toBe('/');
      },
      { expected: [/net::ERR/] },
    );
  });

  it('lets the keyboard focus in and out, and does not trigger shortcuts of the page', async () => {
    await withPage(files, async ({ open }) => {
      const page = await open(path);
      await openEditor(page);
      await page.keyboard.type('# t ?');
      await page.keyboard.press('Tab');
      expect((await page.locator('.cm-line').allTextContents()).at(-1)).toBe('  # t ?');
      expect(await page.getByRole('dialog').count()).toBe(0);

      await page.keyboard.press('Escape');
      await page.keyboard.press('Tab');
      const focused = () => page.evaluate('document.activeElement.textContent');
      expect(await focused()).not.toContain('# t ?');
      await page.keyboard.press('Shift+Tab');
      await page.keyboard.type('!');
      expect((await page.locator('.cm-line').allTextContents()).at(-1)).toContain('!');
    });
  });

  it('finds imports in the directory of the file, and follows changes on the disk', async () => {
    await withPage(files, async ({ open, write }) => {
      const page = await open('/w/moved.yaml?tab=spec&edit=1', { viewport: { width: 390, height: 800 } });
      await page.getByText('No problems').waitFor();
      expect(await accessibilityProblems(page)).toEqual([]);

      write('ops/moved.yaml', 'steps:\n  - name: other\n    command: echo other\n');
      await expect.poll(() => page.locator('.cm-content').textContent()).toContain('other');
      expect(await state(page)).toBe('Saved');
    });
  });

  it('is not offered to a read-only login', async () => {
    await withPage(
      { ...files, 'write.txt': 'a-token-to-write', 'look.txt': 'look-only-token' },
      async ({ open }) => {
        const page = await open(path);
        await page.locator('input[type=password]').fill('look-only-token');
        await page.getByRole('button', { name: 'Log in' }).click();
        await page.getByText('read-only', { exact: true }).waitFor();
        await page.getByRole('region', { name: 'Text of' }).waitFor();

        expect(await page.getByRole('button', { name: 'Edit' }).count()).toBe(0);
        expect(await page.locator('.cm-content').count()).toBe(0);
        await page.getByRole('link', { name: 'Workflows' }).click();
        await page.locator('.row').nth(3).waitFor();
        expect(await page.getByRole('link', { name: /^Edit/ }).count()).toBe(0);
      },
      { options: ['--token-file', 'write.txt', '--read-only-token-file', 'look.txt'], expected: [/status of 401/] },
    );
  });
});
