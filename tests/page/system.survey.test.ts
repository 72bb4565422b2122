import type { Route } from 'playwright-core';
import { expect, it } from 'vitest';
import { browserPath } from '../support/browser.ts';
import { describeWith } from '../support/require.ts';
import { accessibilityProblems, withPage } from './visits.ts';

const files = {
  'slow.yaml': 'steps:\n  - name: wait\n    command: sleep 30\n',
  'due.yaml': 'schedule: "0 2 * * *"\nsteps:\n  - name: one\n    command: echo one\n',
};

describeWith('chromium', browserPath !== null, 'the daemon in a browser', () => {
  it('shows running and waiting runs, upcoming starts, and the settings', async () => {
    await withPage(
      files,
      async ({ open, start, stop }) => {
        const runIds = [await start('slow'), await start('slow')];
        const page = await open('/system');
        const queue = page.getByRole('list', { name: 'Running and waiting runs' });
        await expect.poll(() => queue.getByRole('listitem').count()).toBe(2);
        expect(await queue.getByRole('img').first().getAttribute('aria-label')).toBe('running');
        expect(await page.getByRole('list', { name: 'What is due next' }).textContent()).toContain('due');
        expect(await page.locator('.settings').textContent()).toContain('maxConcurrentRuns');
        await page.getByRole('img', { name: /^2 runs: / }).waitFor();
        const health = page.locator('.facts-list');
        expect(await health.textContent()).toMatch(
          /Event loop delay[\d.]+ ms on average.*Disk of the runs[\d.]+ .iB of /,
        );
        expect(await page.getByText('nearly full').count()).toBe(0);
        const withDisk = async (route: Route, freeBytes: number) => {
          const response = await route.fetch();
          const json = await response.json();
          await route.fulfill({ response, json: { ...json, disk: { ...json.disk, totalBytes: 2 ** 34, freeBytes } } });
        };
        await page.route('**/api/v2/info', (route) => withDisk(route, 2 ** 28));
        await page.reload();
        await page.getByText('nearly full: 256 MiB of 16 GiB free').waitFor();
        expect(await accessibilityProblems(page)).toEqual([]);

        for (const runId of runIds) await stop(runId);
        await page.getByText('No run is running or waiting.').waitFor();
        await page.reload();
        await page.getByText(/2 runs: 2 canceled, at most [12] in an hour/).waitFor();
      },
      { options: ['--max-concurrent-runs', '1'] },
    );
  });

  it('shows which starts of a schedule are suspended, and until when', async () => {
    await withPage(files, async ({ daemon, open }) => {
      const page = await open('/system');
      const due = page.getByRole('list', { name: 'What is due next' }).getByRole('listitem');
      await due.first().waitFor();
      expect(await due.allTextContents()).toHaveLength(7);
      const until = new Date(Date.now() + 3 * 86_400_000).toISOString();
      await fetch(`${daemon.url}/api/v2/workflows/due/suspended`, {
        method: 'PUT',
        body: JSON.stringify({ suspended: true, until }),
        headers: { 'Content-Type': 'application/json' },
      });
      const suspended = async () => (await due.allTextContents()).map((text) => text.endsWith('suspended'));
      await expect.poll(suspended).toEqual([true, true, true, false, false, false, false]);
      await page.getByRole('link', { name: 'Workflows' }).click();
      await page.locator('.row', { hasText: 'resumes in 2d23h' }).waitFor();
      await page.getByRole('switch').click();
      await page.locator('.row', { hasText: /next in/ }).waitFor();
    });
  });

  it('moves a waiting run to the front of the queue', async () => {
    await withPage(
      files,
      async ({ open, start, stop }) => {
        const runIds = [await start('slow'), await start('slow'), await start('due')];
        const page = await open('/system');
        const names = page.getByRole('list', { name: 'Running and waiting runs' }).locator('.name');
        await expect.poll(() => names.allTextContents()).toEqual(['slow', 'slow', 'due']);
        expect(await page.getByRole('button', { name: /^Run next/ }).count()).toBe(1);
        await page.getByRole('button', { name: /^Run next: due/ }).click();

        await expect.poll(() => names.allTextContents()).toEqual(['slow', 'due', 'slow']);
        expect(await accessibilityProblems(page)).toEqual([]);
        await stop(runIds[0] ?? '');
        await page.goto(page.url().replace('system', `runs/${runIds[2]}`));
        await page.getByText('Succeeded after').waitFor();
        await stop(runIds[1] ?? '');
      },
      { options: ['--max-concurrent-runs', '1'] },
    );
  });
});
