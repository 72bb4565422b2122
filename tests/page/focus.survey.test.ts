import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { browserPath } from '../support/browser.ts';
import { describeWith } from '../support/require.ts';
import { withPage } from './visits.ts';

const files = {
  'daily.yaml': 'tags: [daily]\nschedule: "* * * * *"\nsteps: [{ name: one, command: echo one }]\n',
  'gated.yaml': `
steps:
  - name: ship
    approval: { prompt: "Ship it?" }
  - name: wait
    command: sh -c 'trap "while ! test -e go; do sleep 0.05; done; exit 1" TERM; while true; do sleep 0.05; done'
`,
};

/** Presses a control by the keyboard. */
async function press(page: Page, role: 'button' | 'switch', name: string | RegExp): Promise<void> {
  await page.getByRole(role, { name }).focus();
  await page.keyboard.press('Enter');
}

/** The element with the focus: a selector that only fits it, by its class, or its text. */
const focused = (page: Page) =>
  page.evaluate<string>('document.activeElement.className || document.activeElement.textContent');

describeWith('chromium', browserPath !== null, 'the focus', () => {
  it('stays on a control while its change is pending, or near one that is gone', async () => {
    await withPage(files, async ({ open }) => {
      const page = await open('/');
      await page.getByRole('switch').waitFor();
      await press(page, 'switch', 'Schedule of daily');
      await page.getByText('suspended').waitFor();
      expect(await focused(page)).toBe('switch');
      await page.keyboard.press('Enter');
      await expect.poll(() => page.getByRole('switch').getAttribute('aria-checked')).toBe('true');
      expect(await focused(page)).toBe('switch');

      await press(page, 'button', '#daily');
      await press(page, 'button', '#daily ×');
      await expect.poll(() => new URL(page.url()).search).toBe('');
      expect(await focused(page)).toBe('chips');
      expect(await page.evaluate('document.activeElement.tabIndex')).toBe(-1);
      await page.keyboard.press('Tab');
      expect(await page.locator('.chips[tabindex]').count()).toBe(0);

      await page.goto(`${new URL(page.url()).origin}/w/daily?tab=spec`);
      await press(page, 'button', 'Edit');
      await page.getByRole('button', { name: 'Close' }).waitFor();
      await press(page, 'button', 'Close');
      await page.getByRole('button', { name: 'Edit' }).waitFor();
      await expect.poll(() => focused(page)).toBe('Edit');

      await page.goto(`${new URL(page.url()).origin}/system`);
      await page.locator('.row.due').nth(9).waitFor();
      await press(page, 'button', /^Show \d+ more$/);
      await expect.poll(() => page.locator('.row.due').count()).toBeGreaterThan(10);
      await expect
        .poll(() =>
          page
            .locator('.row.due a')
            .nth(10)
            .evaluate((each) => each === document.activeElement),
        )
        .toBe(true);
    });
  });

  it('stays on "Stop" until the run has ended, and in an approval that was given', async () => {
    await withPage(files, async ({ open, start, write }) => {
      const page = await open(`/runs/${await start('gated')}?step=ship`);
      await page.getByRole('button', { name: 'Approve' }).waitFor();
      await press(page, 'button', 'Approve');
      await page.getByRole('region', { name: 'Approval of ship' }).getByText('approved').waitFor();
      expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Approval of ship');

      await press(page, 'button', 'Stop');
      await press(page, 'button', 'Stop the run');
      await page.getByRole('button', { name: 'Stopping' }).waitFor();
      expect(await focused(page)).toBe('danger');
      await page.keyboard.press('Enter');
      expect(await page.getByRole('dialog').count()).toBe(0);
      write('go', '');
      await page.getByRole('button', { name: 'Retry what failed' }).waitFor();
      expect(await focused(page)).toBe('actions');
    });
  });
});
