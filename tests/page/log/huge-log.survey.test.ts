import type { CDPSession, Page, Request } from 'playwright-core';
import { expect, it } from 'vitest';
import { browserPath } from '../../support/browser.ts';
import { describeWith } from '../../support/require.ts';
import { withPage } from '../visits.ts';

const LINES = 2_300_000;
/** A log of 1 GB. */
const LINE_BYTES = 435;
const MIB = 1024 * 1024;
/** 12.5 MB at a time, four times a second. */
const BLOCK_BYTES = 12.5 * 1000 * 1000;
const BLOCKS = 40;

const files = {
  'huge.yaml': `logOutput: separate\nsteps:\n  - name: print\n    command: sh -c 'seq -f "line %012.0f ${'x'.repeat(LINE_BYTES - 18)}" ${LINES}'\n`,
  'flood.sh': `
seq -f "block %06.0f ${'y'.repeat(187)}" ${BLOCK_BYTES / 200} >block
for i in $(seq ${BLOCKS}); do cat block; sleep 0.25; done
echo the end
`,
  'flood.yaml': 'steps:\n  - name: print\n    command: sh flood.sh\n',
};

const line = (page: Page, number: number) => page.locator(`[data-line="${number}"] .log-text`);
const textOf = (number: number) => `line ${String(number).padStart(12, '0')}`;

/** Answers of requests for logs and their indexes, with the bytes of their bodies. */
function recordLogs(page: Page): { readonly take: () => Promise<{ count: number; bytes: number }> } {
  let requests: Request[] = [];
  page.on('requestfinished', (request) => {
    if (request.url().includes('/logs')) requests.push(request);
  });
  return {
    take: async () => {
      const taken = requests;
      requests = [];
      const sizes = await Promise.all(taken.map((request) => request.sizes()));
      return { count: taken.length, bytes: sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0) };
    },
  };
}

async function heapBytes(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  return (await session.send('Runtime.getHeapUsage')).usedSize;
}

describeWith('chromium', browserPath !== null, 'a huge log in a browser', () => {
  it('of 1 GB shows any of its lines with a few requests', { timeout: 180_000 }, async () => {
    await withPage(files, async ({ open, start }) => {
      const page = await open(`/runs/${await start('huge')}?view=steps`);
      await page.locator('.run-header').getByText('Succeeded after').waitFor({ timeout: 120_000 });
      await page.reload();
      const logs = recordLogs(page);
      const session = await page.context().newCDPSession(page);
      await line(page, 1).waitFor();
      expect(await page.getByRole('button', { name: 'stdout' }).textContent()).toBe('stdout 2,300,000');

      await page.locator('section.log').focus();
      await page.keyboard.press('End');
      await line(page, LINES).getByText(textOf(LINES)).waitFor();
      await logs.take();
      const positions = [0.1, 0.9, 0.5, 0.25, 0.75, 0.3, 0.6, 0.2, 0.8, 0.4];
      for (const position of positions) {
        const top = await page.evaluate<number>(`(() => {
          const area = document.querySelector('section.log');
          area.scrollTop = ${position} * (area.scrollHeight - area.clientHeight);
          return area.scrollHeight;
        })()`);
        expect(top).toBe(8_000_000);
        const number = Math.round(position * (LINES - 20));
        await line(page, number).getByText(textOf(number)).waitFor();
      }
      // One piece of 512 lines each, and a second one if the lines are at an edge.
      const jumps = await logs.take();
      expect(jumps.count).toBeLessThanOrEqual(2 * positions.length);
      expect(jumps.bytes).toBeLessThan(2 * positions.length * 512 * LINE_BYTES + 10_000);
      expect(await page.locator('.log-line').count()).toBeLessThan(130);

      await page.locator('section.log').hover();
      const first = await page.locator('.log-line').first().getAttribute('data-line');
      await page.mouse.wheel(0, 18 * 100);
      await expect
        .poll(async () => Number(await page.locator('.log-line').first().getAttribute('data-line')) - Number(first))
        .toBeGreaterThanOrEqual(96);
      expect(Number(await page.locator('.log-line').first().getAttribute('data-line')) - Number(first)).toBeLessThan(
        120,
      );

      await page.getByRole('searchbox', { name: 'Find in the log' }).fill(textOf(1_999_999));
      await page.getByText('1/1').waitFor();
      await line(page, 1_999_999).getByText(textOf(1_999_999)).waitFor();
      expect(await heapBytes(session)).toBeLessThan(20 * MIB);
    });
  });

  it('that grows by 50 MB a second is followed with its last lines only', { timeout: 180_000 }, async () => {
    await withPage(files, async ({ open, start }) => {
      const page = await open(`/runs/${await start('flood')}?view=steps`);
      const logs = recordLogs(page);
      await page.locator('.log-line').first().waitFor();
      await page.evaluate(`
        window.frames = 0;
        const count = () => { window.frames += 1; requestAnimationFrame(count); };
        count();
      `);
      await page.locator('.log-line', { hasText: 'the end' }).waitFor({ timeout: 120_000 });

      expect(await page.evaluate('window.frames')).toBeGreaterThan(2 * BLOCKS);
      const { count, bytes } = await logs.take();
      expect(count).toBeLessThan(12 * BLOCKS);
      expect(bytes).toBeLessThan((BLOCKS * BLOCK_BYTES) / 20);
    });
  });
});
