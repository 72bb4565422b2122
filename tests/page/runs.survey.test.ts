import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { crc32OfText } from '#fast/crc32.ts';
import { browserPath } from '../support/browser.ts';
import { describeWith } from '../support/require.ts';
import { accessibilityProblems, withPage } from './visits.ts';

const files = {
  'quick.yaml':
    'tags: Nightly\nqueue: small\nparams: { DAY: "2026-03-01" }\nsteps:\n  - name: one\n    command: test -e fixed\n',
  'slow.yaml': 'steps:\n  - name: wait\n    command: sleep 60\n',
};

const rows = (page: Page) => page.locator('.run-row');

/** Adds finished runs like this one, a second apart, the newest a minute before it: `DAY=day-0`, `DAY=day-1` and so on. */
async function copyRun(url: string, id: string, count: number): Promise<void> {
  const { file } = (await (await fetch(`${url}/api/v2/runs/${id}`)).json()) as { file: string };
  const runs = join(dirname(file), 'home/runs');
  const lines = readFileSync(join(runs, id, 'journal.jsonl'), 'utf8')
    .trimEnd()
    .split('\n');
  const created = JSON.parse(lines[0] ?? '').data;
  const prepared = lines.findIndex((line) => line.includes('"run.prepared"'));
  for (let index = 0; index < count; index++) {
    const at = created.at - 60_000 - index * 1000;
    const time = at.toString(16).padStart(12, '0');
    const runId = `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${index.toString(16).padStart(12, '0')}`;
    const own = [...lines];
    own[0] = lineOf({ ...created, at, runId });
    own[prepared] = lineOf({
      ...JSON.parse(lines[prepared] ?? '').data,
      params: [{ name: 'DAY', value: `day-${index}` }],
    });
    mkdirSync(join(runs, runId), { mode: 0o700 });
    writeFileSync(join(runs, runId, 'journal.jsonl'), `${own.join('\n')}\n`);
    copyFileSync(join(runs, id, 'snapshot.json'), join(runs, runId, 'snapshot.json'));
  }
}

function lineOf(event: object): string {
  const data = JSON.stringify(event);
  return `{"crc":"${crc32OfText(data).toString(16).padStart(8, '0')}","data":${data}}`;
}

describeWith('chromium', browserPath !== null, 'the list of runs in a browser', () => {
  // Its thousands of runs are files, which takes a busy machine a minute.
  it('of thousands of runs fetches and draws only visible ones', { timeout: 120_000 }, async () => {
    await withPage(files, async ({ daemon, open, start }) => {
      const id = await start('quick');
      await expect.poll(async () => JSON.parse(await daemon.get(`/api/v2/runs/${id}`)).status).toBe('failed');
      await copyRun(daemon.url, id, 4100);
      const page = await open('/runs');
      const requests: string[] = [];
      page.on('request', (request) => requests.push(new URL(request.url()).search));
      await rows(page).nth(20).waitFor();
      expect(await rows(page).first().getAttribute('aria-setsize')).toBe('-1');

      const lastRow = async () => {
        await page.evaluate('scrollTo(0, document.body.scrollHeight)');
        return Number(await rows(page).last().getAttribute('aria-posinset'));
      };
      await expect.poll(lastRow).toBeGreaterThan(300);
      expect(await rows(page).count()).toBeLessThanOrEqual(200);
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.keyboard.press('j');
      const focused = await page.evaluate<number>('Number(document.activeElement.closest("[data-row]").dataset.row)');
      await page.keyboard.press('j');
      await page.keyboard.press('k');
      expect(await page.evaluate('Number(document.activeElement.closest("[data-row]").dataset.row)')).toBe(focused);
      await page.keyboard.press('Enter');
      await page.locator('.run-header').waitFor();
      await page.goBack();
      await page.locator(`[data-row="${focused}"]`).waitFor();
      const isVisible = `(({ top, bottom }) => top >= 0 && bottom <= innerHeight)(document.querySelector('[data-row="${focused}"]').getBoundingClientRect())`;
      expect(await page.evaluate(isVisible)).toBe(true);

      // The run is far from the start: the daemon answers in parts.
      requests.length = 0;
      await page.goto(`${daemon.url}/runs?text=day-4050`);
      await rows(page).first().waitFor();
      expect(await rows(page).count()).toBe(1);
      expect(await rows(page).textContent()).toContain('DAY=day-4050');
      await expect.poll(() => requests.filter((query) => query.includes('cursor=')).length).toBeGreaterThanOrEqual(2);
    });
  });

  it('is filtered by every column, and keeps the filter in the address', async () => {
    await withPage(files, async ({ daemon, open, start }) => {
      const id = await start('quick');
      await expect.poll(async () => JSON.parse(await daemon.get(`/api/v2/runs/${id}`)).status).toBe('failed');
      await copyRun(daemon.url, id, 3);
      const page = await open('/runs');
      await expect.poll(() => rows(page).count()).toBe(4);

      await page.getByRole('searchbox', { name: 'Id, parameter or error' }).fill('DAY-1');
      await page.keyboard.press('Enter');
      await expect.poll(() => rows(page).count()).toBe(1);
      await page.getByRole('combobox', { name: 'Trigger' }).selectOption('schedule');
      await page.getByText('No run matches.').waitFor();
      expect(new URL(page.url()).search).toBe('?text=DAY-1&trigger=schedule');
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.getByRole('combobox', { name: 'Trigger' }).selectOption('api');
      await page.getByRole('combobox', { name: 'Duration' }).selectOption('3600');
      await page.getByText('No run matches.').waitFor();
      await page.goto(`${daemon.url}/runs?tag=nightly&queue=small`);
      await expect.poll(() => rows(page).count()).toBe(4);
      await page.getByRole('searchbox', { name: 'Tag' }).fill('other');
      await page.keyboard.press('Enter');
      await page.getByText('No run matches.').waitFor();
      expect(new URL(page.url()).search).toBe('?tag=other&queue=small');
      await page.goto(`${daemon.url}/runs?from=2000-01-01&to=2000-01-02`);
      await page.getByText('No run matches.').waitFor();
      const day = new Date(JSON.parse(await daemon.get(`/api/v2/runs/${id}`)).createdAt).toLocaleDateString('sv');
      await page.goto(`${daemon.url}/runs?from=${day}&to=${day}`);
      await expect.poll(() => rows(page).count()).toBeGreaterThan(0);
    });
  });

  it('stops, retries and deletes selected runs together, and shows each result', async () => {
    await withPage(files, async ({ daemon, open, start, write }) => {
      const failed = await start('quick');
      await expect.poll(async () => JSON.parse(await daemon.get(`/api/v2/runs/${failed}`)).status).toBe('failed');
      await copyRun(daemon.url, failed, 4);
      await start('slow');
      const page = await open('/runs');
      await expect.poll(() => rows(page).count()).toBe(6);
      const bar = page.locator('.batch');

      await rows(page).nth(0).getByRole('link').first().focus();
      await page.keyboard.press('x');
      await bar.getByText('1 run selected').waitFor();
      await bar.getByRole('button', { name: 'Stop' }).click();
      expect(await page.getByRole('dialog').textContent()).toContain('Stop 1 run?');
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
      await bar.getByText('1 run stopped').waitFor();
      await rows(page).nth(0).getByRole('img', { name: 'canceled' }).waitFor();

      write('fixed', '');
      await rows(page).nth(1).getByRole('checkbox').click();
      await bar.getByRole('button', { name: 'Retry' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Retry' }).click();
      await bar.getByText('1 run retried').waitFor();
      await rows(page).nth(1).getByText('new run').waitFor();
      await page.getByRole('button', { name: '1 new' }).click();
      await expect.poll(() => rows(page).count()).toBe(7);

      const gone = (await rows(page).nth(4).getByRole('link').first().getAttribute('href')) ?? '';
      await rows(page).nth(3).getByRole('checkbox').click();
      await rows(page)
        .nth(5)
        .getByRole('checkbox')
        .click({ modifiers: ['Shift'] });
      await bar.getByText('3 runs selected').waitFor();
      await fetch(`${daemon.url}/api/v2/${gone}`, { method: 'DELETE' });
      await expect.poll(() => rows(page).count()).toBe(6);
      await bar.getByRole('button', { name: 'Delete' }).click();
      expect(await page.getByRole('dialog').textContent()).toContain('Their logs are deleted too.');
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await bar.getByText('2 runs deleted').waitFor();
      await expect.poll(() => rows(page).count()).toBe(4);
      expect(await accessibilityProblems(page)).toEqual([]);
    });
  });
});
