import { expect, it } from 'vitest';
import { browserPath } from '../support/browser.ts';
import { describeWith } from '../support/require.ts';
import { accessibilityProblems, withPage } from './visits.ts';

const files = {
  'etl.yaml': `
params: { MODE: good }
steps:
  - name: extract
    command: echo 5 rows
  - name: load
    command: sh -c 'echo loading $MODE; test $MODE = good'
    depends: extract
`,
};

describeWith('chromium', browserPath !== null, 'the history of a workflow in a browser', () => {
  it('has a column for each run and a row for each step, and links to the step of a run', async () => {
    await withPage(files, async ({ daemon, open }) => {
      for (const mode of ['good', 'bad', 'good']) {
        const body = new URLSearchParams({ params: `MODE=${mode}` });
        await fetch(`${daemon.url}/api/v2/workflows/etl/runs`, { method: 'POST', body });
      }
      const page = await open('/w/etl.yaml?tab=history');
      const cellsOf = (step: string) =>
        page
          .getByRole('row', { name: step })
          .getByRole('img')
          .evaluateAll((icons) => icons.map((icon) => icon.getAttribute('aria-label')));
      await expect.poll(() => cellsOf('load')).toEqual(['succeeded', 'failed', 'succeeded']);
      expect(await cellsOf('extract')).toEqual(['succeeded', 'succeeded', 'succeeded']);
      expect(await page.locator('caption').textContent()).toMatch(/^3 runs, median /);
      expect(await accessibilityProblems(page)).toEqual([]);

      await page.getByRole('row', { name: 'load' }).getByRole('link').nth(1).click();
      await page.getByRole('region', { name: 'output of load, attempt 1' }).getByText('loading bad').waitFor();
      await page.locator('.run-header', { hasText: 'MODE=bad' }).waitFor();
      expect(new URL(page.url()).searchParams.get('step')).toBe('load');
      await page.getByRole('link', { name: 'etl', exact: true }).click();
      await page.getByRole('heading', { name: 'Last runs' }).waitFor();
      expect(await page.getByRole('list', { name: 'Last runs of etl' }).getByRole('listitem').count()).toBe(3);
    });
  });
});
