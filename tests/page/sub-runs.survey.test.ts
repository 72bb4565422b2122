import { expect, it } from 'vitest';
import { browserPath } from '../support/browser.ts';
import { describeWith } from '../support/require.ts';
import { accessibilityProblems, withPage } from './visits.ts';

const files = {
  'outer.yaml': 'steps:\n  - name: all stores\n    run: middle\n',
  'middle.yaml': 'steps:\n  - name: one store\n    run: inner\n    params: STORE=north\n',
  'inner.yaml':
    'params: { STORE: none }\nsteps:\n  - name: dump\n    command: sh -c \'echo "no room on $STORE" >&2; exit 7\'\n',
};

describeWith('chromium', browserPath !== null, 'runs of runs in a browser', () => {
  it('show failures at any depth, and link to their logs', async () => {
    await withPage(files, async ({ open, start }) => {
      const outer = await start('outer');
      const page = await open(`/runs/${outer}`);
      await page.locator('.run-header').getByText('Failed after').waitFor();
      await page.getByRole('heading', { name: 'all stores', exact: true, level: 2 }).waitFor();
      await page.getByRole('region', { name: 'Last lines of dump' }).getByText('no room on north').waitFor();
      expect(await accessibilityProblems(page)).toEqual([]);

      await page.getByRole('link', { name: 'all stores > one store > dump' }).click();
      await page.getByRole('region', { name: 'output of dump, attempt 1' }).getByText('no room on north').waitFor();
      expect(await page.locator('.run-header').textContent()).toContain('STORE=north');
      expect(await page.locator('.run-header').textContent()).toContain('by a step');
      await page.goBack();
      await page.getByRole('heading', { name: 'all stores', exact: true, level: 2 }).waitFor();
      expect(new URL(page.url()).pathname).toBe(`/runs/${outer}`);
    });
  });

  it('show what fails while the page is open: instances, three of them, with links to their logs', async () => {
    const fan =
      'steps: [{name: ship, parallel: [a, b, c, d, e], command: "until [ -e go ]; do sleep 0.05; done; echo no $ITEM; exit 3", shell: sh}]\n';
    await withPage({ 'fan.yaml': fan }, async ({ open, start, write }) => {
      const page = await open(`/runs/${await start('fan')}`);
      await page.locator('.run-header').getByText('Running for').waitFor();
      write('go', '');
      await page.getByRole('region', { name: 'Last lines of ship[c]' }).getByText('no c').waitFor();
      await page.getByText('and 2 more failed').waitFor();
      expect(await page.locator('.failure').count()).toBe(3);
      await page.getByRole('link', { name: 'ship[b]', exact: true }).click();
      await page.getByRole('region', { name: 'output of ship[b], attempt 1' }).getByText('no b').waitFor();
    });
  });
});
