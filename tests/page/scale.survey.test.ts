import type { CDPSession, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { browserPath } from '../support/browser.ts';
import { describeWith } from '../support/require.ts';
import { type Journey, withPage } from './visits.ts';

/** Times are processor times, because the machine may be busy; the best of these attempts may take twice the budget. */
const SLACK = 2;
const TRIES = 2;

/** A file with this many steps, each of which depends on one or two before it, and all on the first. */
function manySteps(count: number, first: string): string {
  const steps = Array.from({ length: count }, (_, at) => {
    const near = [at - 14 + ((at * 7) % 5), ...(at % 3 === 0 ? [at - 10 - (at % 4)] : [])];
    const needs = new Set(at === 0 ? [] : near.map((other) => `step-${Math.max(other, 0)}`));
    return `  - { name: step-${at}, command: ${at === 0 ? first : '"true"'}, depends: [${[...needs].join(', ')}] }\n`;
  });
  return `steps:\n${steps.join('')}`;
}

const files = {
  'thousand.yaml': manySteps(1000, '"true"'),
  // Two steps end every 0.1 seconds, and two begin.
  'live.yaml': `maxActiveSteps: 2\n${manySteps(1000, 'sleep 0.1').replaceAll('"true"', 'sleep 0.1')}`,
  // No other step is reached, which ends the run at once.
  'huge.yaml': manySteps(10_000, '"false"'),
};

function drawn(page: Page, selector: string, count: number): Promise<void> {
  const last = page.locator(selector).nth(count - 1);
  return last.waitFor({ state: 'attached', timeout: 120_000 });
}

/** Measures the main thread of a page in processor time. */
async function measured(page: Page): Promise<CDPSession> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return session;
}

async function finished({ daemon }: Journey, runId: string): Promise<void> {
  const isFinished = async () => JSON.parse(await daemon.get(`/api/v2/runs/${runId}`)).finishedAt !== null;
  await expect.poll(isFinished, { timeout: 300_000, interval: 500 }).toBe(true);
}

async function metric(session: CDPSession, name: string): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find((each) => each.name === name)?.value ?? 0;
}

async function usedHeap(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  return metric(session, 'JSHeapUsedSize');
}

/** The minimum cost of drawing a run: milliseconds of the main thread, bytes of its heap afterwards. */
async function bestOf({ open, daemon }: Journey, path: string, selector: string, count: number) {
  const tries: { busy: number; heap: number }[] = [];
  for (let index = 0; index < TRIES; index++) {
    const page = await open('/system');
    const session = await measured(page);
    const before = await metric(session, 'TaskDuration');
    await page.goto(`${daemon.url}${path}`);
    await drawn(page, selector, count);
    const busy = 1000 * ((await metric(session, 'TaskDuration')) - before);
    tries.push({ busy, heap: await usedHeap(session) });
    await page.close();
  }
  return { busy: Math.min(...tries.map(({ busy }) => busy)), heap: Math.min(...tries.map(({ heap }) => heap)) };
}

describeWith('chromium', browserPath !== null, 'a run of many steps in a browser', () => {
  it('of 1,000 steps is drawn with a box for each', { timeout: 300_000 }, async () => {
    await withPage(files, async (journey) => {
      const runId = await journey.start('thousand');
      await finished(journey, runId);

      const { busy, heap } = await bestOf(journey, `/runs/${runId}`, '.graph a', 1000);
      expect(busy).toBeLessThan(700 * SLACK);
      expect(heap).toBeLessThan(25e6 * SLACK);
    });
  });

  it('of 1,000 steps that runs keeps the page responsive', { timeout: 300_000 }, async () => {
    await withPage(files, async ({ open, start, stop, daemon }) => {
      const runId = await start('live');
      const page = await open(`/runs/${runId}`);
      await drawn(page, '.graph a', 1000);
      const session = await measured(page);
      const changesOf = async () =>
        JSON.parse(await daemon.get(`/api/v2/runs/${runId}`)).steps.filter(
          ({ status }: { status: string }) => status === 'succeeded',
        ).length;
      const rates: number[] = [];
      for (let index = 0; index < 3; index++) {
        const [before, from] = [await metric(session, 'TaskDuration'), Date.now()];
        await page.waitForTimeout(2000);
        rates.push((1e6 * ((await metric(session, 'TaskDuration')) - before)) / (Date.now() - from));
      }
      expect(await changesOf()).toBeGreaterThan(20);
      expect(Math.min(...rates)).toBeLessThan(300 * SLACK);
      expect(await usedHeap(session)).toBeLessThan(25e6 * SLACK);
      await stop(runId);
    });
  });

  it('of 10,000 steps is drawn as a whole, and with boxes when enlarged', { timeout: 600_000 }, async () => {
    await withPage(files, async (journey) => {
      const runId = await journey.start('huge');
      await finished(journey, runId);
      const { heap } = await bestOf(journey, `/runs/${runId}`, 'path.cells', 1);
      expect(heap).toBeLessThan(60e6 * SLACK);

      const page = await journey.open(`/runs/${runId}?step=step-5000`);
      await page.locator('path.cells').first().waitFor({ timeout: 120_000 });
      expect(await page.locator('.graph a').count()).toBe(0);
      await page.getByRole('searchbox', { name: 'Find a step in the graph' }).fill('step-7777');
      await page.keyboard.press('Enter');
      await page.getByRole('link', { name: /^step-7777: / }).waitFor();
      expect(await page.locator('.graph a').count()).toBeLessThan(1000);
      await page.getByRole('button', { name: 'Steps' }).click();
      await page.locator('.step-row').first().waitFor();
      expect(await page.locator('.step-row').count()).toBeLessThan(200);
    });
  });
});

const thousandFiles = Object.fromEntries(
  Array.from({ length: 1000 }, (_, at) => [
    `${at % 4 === 0 ? '' : `group-${at % 4}/`}workflow-${at}.yaml`,
    `description: does number ${at}\ntags: [tag-${at % 10}]\nsteps: [{ name: one, command: "true" }]\n`,
  ]),
);

describeWith('chromium', browserPath !== null, 'a list of 1,000 workflows in a browser', () => {
  it('is one response of the API and a stream of events', { timeout: 120_000 }, async () => {
    await withPage(thousandFiles, async ({ open, daemon }) => {
      const busy: number[] = [];
      for (let index = 0; index < TRIES; index++) {
        const page = await open('/system');
        await page.getByRole('heading', { name: 'Settings' }).waitFor();
        const session = await measured(page);
        const before = await metric(session, 'TaskDuration');
        const asked: string[] = [];
        page.on('request', (request) => asked.push(new URL(request.url()).pathname));
        await page.goto(daemon.url);
        await drawn(page, '.row.workflow', 1000);
        busy.push(1000 * ((await metric(session, 'TaskDuration')) - before));
        expect(asked.filter((path) => path.startsWith('/api/')).toSorted()).toEqual([
          '/api/v2/events',
          '/api/v2/workflows',
        ]);
        expect(await usedHeap(session)).toBeLessThan(25e6 * SLACK);
        await page.close();
      }
      expect(Math.min(...busy)).toBeLessThan(500 * SLACK);
    });
  });
});
