import { expect, it } from 'vitest';
import { browserPath } from '../support/browser.ts';
import { describeWith } from '../support/require.ts';
import { accessibilityProblems, withPage } from './visits.ts';

const files = {
  'release.yaml': `
steps:
  - name: db
    command: sh -c 'sleep 1; touch up; sleep 60'
    workingDir: .
    service: { readyWhen: { command: test -e up }, intervalSec: 0.1 }
  - name: go
    depends: db
    command: echo planned
    approval: { prompt: Ship it? }
  - { name: ship, depends: go, command: echo shipped }
`,
};

describeWith('chromium', browserPath !== null, 'the timeline of a run in a browser', () => {
  it('shows the wait for an approval and the start of a service, to screen readers too, in light and dark', async () => {
    await withPage(files, async ({ open, start, daemon }) => {
      const runId = await start('release');
      const page = await open(`/runs/${runId}?view=timeline`);
      const row = (name: string) => page.locator(`.timeline tr[data-name="${name}"]`);
      const track = (name: string) => row(name).getByRole('img').last().getAttribute('aria-label');
      await row('go').locator('.held').waitFor();
      expect(await track('go')).toMatch(/^attempt 1: succeeded after .+; waiting .+ for approval$/);
      expect(await track('db')).toMatch(/^attempt 1: running, ready .+ after its start$/);
      await fetch(`${daemon.url}/api/v2/runs/${runId}/steps/go/approve`, { method: 'POST' });
      await page.locator('.run-header').getByText('Succeeded after').waitFor();
      await expect.poll(() => track('go')).toMatch(/; waited .+ for approval$/);

      const [bar, held] = [
        await row('go').locator('.bar').boundingBox(),
        await row('go').locator('.held').boundingBox(),
      ];
      expect(held?.x ?? 0).toBeGreaterThanOrEqual((bar?.x ?? 0) + (bar?.width ?? 0) - 5);
      expect(held?.height ?? 0).toBeLessThan(bar?.height ?? 0);
      const [service, unready] = [
        await row('db').locator('.bar').boundingBox(),
        await row('db').locator('.unready').boundingBox(),
      ];
      expect(unready?.width ?? 0).toBeGreaterThan(10);
      expect(unready?.width ?? 0).toBeLessThan(service?.width ?? 0);
      expect(await page.locator('.timeline .held, .timeline .unready').count()).toBe(2);
      await page.locator('.legend').getByText('waiting for approval').waitFor();
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await accessibilityProblems(page)).toEqual([]);
      }
    });
  });
});
