import { expect, it } from 'vitest';
import { browserPath } from '../support/browser.ts';
import { describeWith } from '../support/require.ts';
import { accessibilityProblems, withPage } from './visits.ts';

const files = {
  'stores.yaml': `
steps:
  - name: dump
    parallel: { items: [north, south, { id: 3 }] }
    command: sh -c 'echo "dump of $ITEM"; test "$ITEM" != south'
`,
};

describeWith('chromium', browserPath !== null, 'a fan-out in a browser', () => {
  it('lists its instances with their items in the details of its step', async () => {
    await withPage(files, async ({ open, start }) => {
      const page = await open(`/runs/${await start('stores')}?step=dump&tab=details`);
      await page.locator('.run-header').getByText('Failed after').waitFor();
      await page.getByText('3 instances: 2 succeeded, 1 failed').waitFor();
      const rows = page.locator('.instances .name');
      expect(await rows.allTextContents()).toEqual(['dump[north]', 'dump[south]', 'dump[3]']);
      expect(await page.locator('.instances .why').allTextContents()).toEqual(['', 'exit 1', '{"id":"3"}']);
      expect(await accessibilityProblems(page)).toEqual([]);
    });
  });

  it('shows what an instance printed, first of one that failed', async () => {
    await withPage(files, async ({ open, start }) => {
      const page = await open(`/runs/${await start('stores')}`);
      await page.locator('.run-header').getByText('Failed after').waitFor();
      await page.locator('.failure').getByText('dump of south').waitFor();
      await page.locator('.step-pane').getByText('dump of south').waitFor();
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.getByLabel('Instance').selectOption('north');
      await page.locator('.step-pane').getByText('dump of north').waitFor();
      await expect.poll(() => new URL(page.url()).searchParams.get('item')).toBe('north');
      await page.reload();
      await page.locator('.step-pane').getByText('dump of north').waitFor();
    });
  });
});
