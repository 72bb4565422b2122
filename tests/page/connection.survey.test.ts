import type { Page, Response } from 'playwright-core';
import { expect, it } from 'vitest';
import { browserPath } from '../support/browser.ts';
import { describeWith } from '../support/require.ts';
import { withPage } from './visits.ts';

const gate = (name: string) => `until [ -e ${name} ]; do sleep 0.05; done`;
const files = {
  'live.yaml': `
steps:
  - name: tick
    command: sh -c 'echo first; ${gate('on')}; echo second; ${gate('end')}; echo third'
`,
  'day.yaml': 'params: { DAY: monday }\nsteps:\n  - name: show\n    command: echo on $DAY\n',
};

const line = (page: Page, text: string) => page.locator('.log-line', { hasText: text });
const offline = (page: Page) => page.getByText('Offline, shown as of');

/** The clock of the page can be put forward. */
const withClock = (page: Page) => page.clock.install();

/** Hides a page for longer than it keeps its connection then. */
async function hide(page: Page): Promise<void> {
  await setHidden(page, true);
  await page.clock.fastForward(6000);
  await setHidden(page, false);
}

/** Waits until the page says that it is offline, though any other answer of the daemon may take that away at once. */
function untilOffline(page: Page): Promise<unknown> {
  return page.evaluate(`new Promise((resolve) => {
    new MutationObserver((_, observer) => {
      if (!document.body.textContent.includes('Offline, shown as of')) return;
      observer.disconnect();
      resolve();
    }).observe(document.body, { childList: true, subtree: true, characterData: true });
  })`);
}

function setHidden(page: Page, isHidden: boolean): Promise<unknown> {
  return page.evaluate(`
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${isHidden} });
    document.dispatchEvent(new Event('visibilitychange'));
  `);
}

describeWith('chromium', browserPath !== null, 'the connection of the page', () => {
  it.each(['fast', 'slow'])('of a %s stream asks for the view of a run once', async (speed) => {
    await withPage(files, async ({ open, start, daemon, write }) => {
      const runs = [await start('live'), await start('day'), await start('day')];
      for (const runId of runs.slice(1))
        await expect.poll(() => daemon.get(`/api/v2/runs/${runId}`)).toContain('"status":"succeeded"');
      const asked: string[] = [];
      const prepare = async (page: Page) => {
        page.on('request', (request) => {
          const { pathname } = new URL(request.url());
          if (pathname.endsWith('/view')) asked.push(pathname);
        });
        if (speed === 'fast') return;
        // The view is drawn before the stream begins.
        await page.route('**/api/v2/events*', async (route) => {
          await page.locator('.run-header').waitFor();
          await route.continue();
        });
      };
      for (const runId of runs) {
        const page = await open(`/runs/${runId}`, {}, prepare);
        const begun = page.waitForResponse((response) => response.url().includes('/api/v2/events'));
        await page.locator('.run-header').waitFor();
        await begun;
      }
      const live = await open(`/runs/${runs[0]}`, {}, prepare);
      await line(live, 'first').waitFor();
      write('on', '');
      write('end', '');
      await live.locator('.run-header').getByText('Succeeded after').waitFor();
      await line(live, 'third').waitFor();
      expect(asked).toEqual([...runs, runs[0]].map((runId) => `/api/v2/runs/${runId}/view`));
    });
  });

  it('is only interrupted by a request that is lost', async () => {
    await withPage(
      files,
      async ({ open, start, write }) => {
        const page = await open(`/runs/${await start('live')}`, {}, withClock);
        await line(page, 'first').waitFor();
        await page.route('**/stop', (route) => route.abort('connectionreset'));
        await page.getByRole('button', { name: 'Stop' }).click();
        const seen = untilOffline(page);
        await page.getByRole('button', { name: 'Stop the run' }).click();
        await seen;
        await page.clock.fastForward(2000);
        await offline(page).waitFor({ state: 'detached' });
        expect(await page.getByRole('button', { name: 'Stop', exact: true }).isEnabled()).toBe(true);
        write('on', '');
        write('end', '');
        await line(page, 'third').waitFor();
      },
      { expected: [/net::ERR/] },
    );
  });

  it('is not lost when the shown run is deleted', async () => {
    await withPage(
      files,
      async ({ open, start, daemon }) => {
        const runId = await start('day');
        const page = await open(`/runs/${runId}`, {}, withClock);
        await page.locator('.run-header').getByText('Succeeded after').waitFor();
        // The process of the run may not have exited yet.
        const remove = () => fetch(`${daemon.url}/api/v2/runs/${runId}`, { method: 'DELETE' });
        await expect.poll(async () => (await remove()).status).toBe(204);
        const isRefused = (response: Response) => response.url().includes('/events') && response.status() === 404;
        const refused = page.waitForResponse(isRefused);
        await hide(page);
        await refused;
        // As long as the page waits before it connects again.
        const refusedAgain = page.waitForResponse(isRefused);
        await page.clock.fastForward(1000);
        await refusedAgain;
        expect(await offline(page).count()).toBe(0);
      },
      { expected: [/status of 404/] },
    );
  });

  it('follows a log again after the page was hidden', async () => {
    await withPage(files, async ({ open, start, write }) => {
      const page = await open(`/runs/${await start('live')}`, {}, withClock);
      await line(page, 'first').waitFor();
      await hide(page);
      write('on', '');
      await line(page, 'second').waitFor();
      write('end', '');
      await line(page, 'third').waitFor();
    });
  });

  it('may be lost during a start: the same start is not repeated, another one is', async () => {
    await withPage(
      files,
      async ({ open, daemon }) => {
        const page = await open('/w/day.yaml/start', {}, withClock);
        const loseOne = (pattern: string) =>
          page.route(
            pattern,
            async (route) => {
              await route.fetch();
              await route.abort('connectionreset');
            },
            { times: 1 },
          );
        const start = page.getByRole('button', { name: 'Start', exact: true });
        const runs = async () => JSON.parse(await daemon.get('/api/v2/runs')).runs.length;
        // Not by the word Offline: the response to another request, such as that for the new run, may remove it at once.
        const startAndLose = async () => {
          await loseOne('**/day.yaml/runs');
          const lost = page.waitForEvent('requestfailed', (request) => request.method() === 'POST');
          await start.click();
          await lost;
          await page.clock.fastForward(2000);
        };
        await startAndLose();
        await startAndLose();
        await expect.poll(runs).toBe(1);

        await page.getByLabel('DAY', { exact: true }).fill('sunday');
        await start.click();
        await line(page, 'on sunday').waitFor();
        expect(await runs()).toBe(2);
      },
      { expected: [/net::ERR/] },
    );
  });
});
