import { expect, it } from 'vitest';
import { browserPath } from '../support/browser.ts';
import { describeWith } from '../support/require.ts';
import { accessibilityProblems, withPage } from './visits.ts';

const files = {
  'hello.yaml': 'schedule: "0 2 * * *"\nsteps:\n  - name: greet\n    command: echo hello\n',
};

describeWith('chromium', browserPath !== null, 'every screen of the page', () => {
  it('can be reached with the keyboard alone', async () => {
    await withPage(files, async ({ open, start }) => {
      const runId = await start('hello');
      const page = await open('/');
      await page.locator('.row').waitFor();

      await page.keyboard.press('Control+k');
      await page.getByRole('combobox').fill('last run hello');
      await page.getByRole('option', { name: 'Last run of hello' }).waitFor();
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.keyboard.press('Enter');
      await page.locator('.run-header').waitFor();
      expect(new URL(page.url()).pathname).toBe(`/runs/${runId}`);
      await page.keyboard.press('g');
      await page.keyboard.press('w');
      await page.locator('.row').waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type('gw?');
      expect(await page.getByRole('searchbox').inputValue()).toBe('gw?');
      await page.getByRole('searchbox').blur();
      await page.keyboard.press('?');
      await page.getByRole('heading', { name: 'Keys' }).waitFor();
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    });
  });

  it('moves through lists with j and k', async () => {
    await withPage({ ...files, 'other.yaml': files['hello.yaml'] }, async ({ open }) => {
      const page = await open('/');
      await page.locator('.row').nth(1).waitFor();
      const focused = () => page.evaluate<string>('document.activeElement.textContent');

      await page.keyboard.press('j');
      expect(await focused()).toBe('hello');
      await page.keyboard.press('j');
      expect(await focused()).toBe('other');
      await page.keyboard.press('k');
      expect(await focused()).toBe('hello');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'hello' }).waitFor();
    });
  });

  it('shows the last runs and the switch of a schedule', async () => {
    await withPage(files, async ({ open, start }) => {
      await start('hello');
      const page = await open('/');
      const schedule = page.getByRole('switch', { name: 'Schedule of hello' });
      await page.getByRole('group', { name: 'last run: 1 succeeded' }).waitFor();
      expect(await accessibilityProblems(page)).toEqual([]);
      const tick = page.locator('.ticks a');
      // Twenty of them in each row would be many stops for the keyboard.
      expect(await tick.evaluate((each) => each instanceof SVGAElement && each.tabIndex)).toBe(-1);
      await page.evaluate('document.isSame = true');
      await tick.click();
      await page.locator('.run-header').waitFor();
      expect(await page.evaluate('document.isSame')).toBe(true);
      await page.goBack();

      await schedule.click();
      await page.getByText('suspended').waitFor();
      expect(await schedule.getAttribute('aria-checked')).toBe('false');
      await schedule.click();
      await expect.poll(() => schedule.getAttribute('aria-checked')).toBe('true');
      await page.getByRole('link', { name: 'hello', exact: true }).click();
      await page.getByRole('button', { name: 'More for hello' }).click();
      await page.getByRole('menuitem', { name: 'Suspend until' }).click();
      const dialog = page.getByRole('dialog', { name: 'Suspend the schedule of hello' });
      await dialog.getByLabel('Until').fill('2150-03-01T08:00');
      expect(await accessibilityProblems(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Suspend' }).click();
      await page.getByText('suspended until 2150-03-01 08:00:00').waitFor();
      expect(await schedule.getAttribute('aria-checked')).toBe('false');
      await schedule.click();
      await expect.poll(() => schedule.getAttribute('aria-checked')).toBe('true');
      await page.getByRole('button', { name: 'History' }).click();
      await page.locator('.grid a', { has: page.getByRole('img', { name: 'succeeded', exact: true }) }).click();
      await page.locator('.log-line', { hasText: 'hello' }).waitFor();
      expect(new URL(page.url()).search).toBe('?step=greet');
    });
  });

  it('shows links if the address is unknown', async () => {
    await withPage(
      files,
      async ({ open }) => {
        const page = await open('/nothing/here');
        await page.getByRole('heading', { name: 'Not found' }).waitFor();
        expect(await accessibilityProblems(page)).toEqual([]);
        await page.getByRole('link', { name: 'All workflows' }).click();
        await page.locator('.row').waitFor();
      },
      { expected: [/status of 404/] },
    );
  });

  it('keeps its content while the daemon does not answer', async () => {
    await withPage(
      files,
      async ({ open, daemon }) => {
        const page = await open('/');
        await page.locator('.row').waitFor();

        await daemon.end('SIGKILL');
        await page.getByText('Offline, shown as of').waitFor();
        expect(await page.locator('.row .name').allTextContents()).toEqual(['hello']);
        expect(await page.getByRole('switch').isDisabled()).toBe(true);
        expect(await accessibilityProblems(page)).toEqual([]);
      },
      { expected: [/net::ERR/] },
    );
  });
});
