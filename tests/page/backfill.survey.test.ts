import { expect, it } from 'vitest';
import { browserPath } from '../support/browser.ts';
import { describeWith } from '../support/require.ts';
import { accessibilityProblems, withPage } from './visits.ts';

const files = {
  'daily.yaml': `
timezone: Europe/Berlin
schedule: "0 2 * * *"
steps:
  - name: load
    command: sh -c 'test $WF_SCHEDULED_DATE != 2026-11-02 && until test -e go; do sleep 0.02; done'
`,
};

describeWith('chromium', browserPath !== null, 'the dialog that fills past moments, in a browser', () => {
  it('previews them, starts their runs, and shows which are done', async () => {
    const expected = [/the server responded with a status of 400/];
    await withPage(
      files,
      async ({ open, write }) => {
        const page = await open('/w/daily');
        await page.getByRole('button', { name: 'More for daily' }).click();
        await page.getByRole('menuitem', { name: 'Backfill' }).click();
        const dialog = page.getByRole('dialog', { name: 'Backfill daily' });
        const press = (name: string) => dialog.getByRole('button', { name, exact: true }).click();
        expect(await dialog.getByRole('button', { name: 'Preview' }).isDisabled()).toBe(true);
        await dialog.getByLabel('From').fill('2026-11-01');
        await dialog.getByLabel('To').fill('2026-11-01');
        await press('Preview');
        await dialog.getByText('"from" must be before "to"').waitFor();
        await dialog.getByLabel('To').fill('2026-11-05');
        await press('Preview');
        await dialog.getByText('4 moments, 4 to start').waitFor();
        expect(await accessibilityProblems(page)).toEqual([]);
        // A change of the range takes back what was previewed.
        await dialog.getByLabel('To').fill('2026-11-04');
        await press('Preview');
        await dialog.getByText('3 moments, 3 to start').waitFor();
        await press('Start 3 runs');
        await dialog.getByText('3 moments, 1 running, 2 left').waitFor();
        expect(await accessibilityProblems(page)).toEqual([]);
        await press('Start no more');
        write('go', '');
        await dialog.getByText('3 moments, 1 done, 2 left').waitFor();

        await press('Close');
        await page.getByRole('button', { name: 'More for daily' }).click();
        await page.getByRole('menuitem', { name: 'Backfill' }).click();
        await dialog.getByLabel('From').fill('2026-11-01');
        await dialog.getByLabel('To').fill('2026-11-04');
        await press('Preview');
        await dialog.getByText('3 moments, 1 done, 2 to start').waitFor();
        await press('Start 2 runs');
        await dialog.getByText('3 moments, 2 done, 1 failed').waitFor();
        await dialog
          .getByRole('list', { name: 'Moments' })
          .getByRole('link', { name: /: failed$/ })
          .click();
        await page.locator('.run-header').waitFor();
      },
      { expected },
    );
  });
});
