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
  'live.yaml': `
steps:
  - name: hosts
    command: echo '["web1","web2","db"]'
    output: HOSTS
  - name: deploy
    depends: hosts
    parallel: { items: "\${HOSTS}" }
    command: sh -c 'echo "to $ITEM"; until test -e go; do sleep 0.05; done; test "$ITEM" != db || test -e mended'
    workingDir: .
`,
  'thousand.yaml': `
steps:
  - name: all
    parallel: { items: [${Array.from({ length: 1000 }, (_, at) => `n${at}`).join(', ')}], maxConcurrent: 50 }
    command: "true"
`,
  'parent.yaml': `
steps:
  - name: regions
    parallel: [eu, us]
    run: child
`,
  'grandparent.yaml': `
steps:
  - name: all
    run: parent
`,
  'child.yaml': `
params: REGION
steps:
  - name: go
    approval: { prompt: "Ship it?" }
`,
};

/** The main thread of a page may take this much to show a thousand instances, in milliseconds of processor time. */
const MOST_BUSY_MS = 1400;

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

  it('shows the output of an instance, first of a failed one', async () => {
    await withPage(files, async ({ open, start }) => {
      const page = await open(`/runs/${await start('stores')}`);
      await page.locator('.run-header').getByText('Failed after').waitFor();
      await page.locator('.failure').getByText('dump of south').waitFor();
      await page.locator('.step-pane').getByText('dump of south').waitFor();
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.getByRole('combobox', { name: 'Instance' }).selectOption('north');
      await page.locator('.step-pane').getByText('dump of north').waitFor();
      await expect.poll(() => new URL(page.url()).searchParams.get('item')).toBe('north');
      await page.reload();
      await page.locator('.step-pane').getByText('dump of north').waitFor();
    });
  });

  it('unfolds while it runs, in the graph, the list and the timeline, with the keyboard too', async () => {
    await withPage(files, async ({ open, start, write }) => {
      const page = await open(`/runs/${await start('live')}`);
      const inGraph = page.locator('.graph');
      await page.getByRole('link', { name: 'deploy x3: running, 0/3, needs hosts' }).waitFor();
      const fold = page.getByRole('button', { name: 'Instances of deploy' });
      await fold.focus();
      await page.keyboard.press('Enter');
      await inGraph.getByRole('link', { name: 'deploy[web1]: running' }).waitFor();
      expect(await fold.getAttribute('aria-expanded')).toBe('true');
      expect(await accessibilityProblems(page)).toEqual([]);

      write('go', '');
      await inGraph.getByRole('link', { name: 'deploy[db]: failed' }).click();
      await page.locator('.step-pane').getByText('to db').waitFor();
      await expect.poll(() => new URL(page.url()).searchParams.get('item')).toBe('db');
      await page.locator('.run-header').getByText('Failed after').waitFor();

      await page.getByRole('button', { name: 'Steps', exact: true }).click();
      await expect
        .poll(() => page.locator('.steps-pane .step-row .name').allTextContents())
        .toEqual(['hosts', 'deploy x3', 'deploy[web1]', 'deploy[web2]', 'deploy[db]']);
      expect(await page.locator('.step-row[aria-current] .name').textContent()).toBe('deploy[db]');
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.getByRole('button', { name: 'Timeline', exact: true }).click();
      await expect.poll(() => page.locator('.timeline tr.instance .bar').count()).toBe(3);
      expect(await accessibilityProblems(page)).toEqual([]);
      await fold.click();
      await expect.poll(() => page.locator('.timeline tr.instance').count()).toBe(0);
    });
  });

  it('retries one instance alone', async () => {
    await withPage(files, async ({ open, start, write }) => {
      write('go', '');
      const page = await open(`/runs/${await start('live')}?step=deploy&item=db`);
      await page.locator('.run-header').getByText('Failed after').waitFor();
      write('mended', '');
      await page.getByRole('button', { name: 'More actions of the step' }).click();
      await page.getByRole('menuitem', { name: 'Retry deploy[db] alone' }).click();
      await page.getByText('retry of').waitFor();
      await page.locator('.run-header').getByText('Succeeded after').waitFor();
      await page.goto(`${page.url()}?step=deploy&item=web1`);
      await page.getByRole('link', { name: 'deploy[db]: succeeded' }).waitFor();
    });
  });

  it('of a thousand items has squares in the graph and only the visible rows in the list', async () => {
    await withPage(files, async ({ open, start, daemon }) => {
      const runId = await start('thousand');
      const page = await open('/system');
      const session = await page.context().newCDPSession(page);
      await session.send('Performance.enable', { timeDomain: 'threadTicks' });
      const busy = async () => {
        const { metrics } = await session.send('Performance.getMetrics');
        return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0);
      };
      const isFinished = async () => JSON.parse(await daemon.get(`/api/v2/runs/${runId}`)).finishedAt !== null;
      await expect.poll(isFinished, { timeout: 60_000 }).toBe(true);
      const before = await busy();
      await page.goto(`${daemon.url}/runs/${runId}`);
      await page.getByRole('button', { name: 'Instances of all' }).click();
      await page.locator('.squares .cells.succeeded').waitFor();
      await page.getByRole('button', { name: 'Steps', exact: true }).click();
      await page.locator('.step-row').nth(40).waitFor();
      expect(await busy()).toBeLessThan(before + MOST_BUSY_MS);
      expect(await page.locator('.step-row').count()).toBeLessThan(200);
      await page.getByRole('button', { name: 'Graph', exact: true }).click();
      const inAddress = () => new URL(page.url()).searchParams.get('item');
      await page.locator('.squares').click({ position: { x: 3, y: 3 } });
      await expect.poll(inAddress).toBe('n0');

      const square = page.locator('.squares a');
      const focused = () => page.evaluate('document.activeElement.querySelector("title")?.textContent');
      await page.getByRole('button', { name: 'Instances of all' }).focus();
      await page.keyboard.press('Tab');
      expect(await focused()).toBe('all[n0]: succeeded');
      const keys = { ArrowLeft: 'n0', ArrowRight: 'n1', End: 'n999', ArrowDown: 'n999', Home: 'n0' };
      for (const [key, item] of Object.entries(keys)) {
        await page.keyboard.press(key);
        await expect.poll(focused).toBe(`all[${item}]: succeeded`);
      }
      await page.keyboard.press('ArrowDown');
      await expect.poll(focused).not.toBe('all[n0]: succeeded');
      const below = /\[(.+)\]/.exec(String(await focused()))?.[1] ?? '';
      expect(Number(below.slice(1))).toBeGreaterThan(10);
      await page.keyboard.press('ArrowUp');
      await expect.poll(focused).toBe('all[n0]: succeeded');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await expect.poll(inAddress).toBe(below);
      expect(await square.getAttribute('class')).toBe('succeeded selected');
      expect(await accessibilityProblems(page)).toEqual([]);
    });
  });

  it('links to its sub-runs that wait for approval, also from the bar above every screen', async () => {
    await withPage(files, async ({ open, start, daemon }) => {
      const page = await open(`/runs/${await start('parent')}`);
      await page.getByRole('link', { name: 'Answer 2 sub-runs' }).waitFor();
      await page.getByRole('link', { name: '2 wait for you' }).click();
      await expect.poll(() => page.locator('.run-row').count()).toBe(2);
      expect(await accessibilityProblems(page)).toEqual([]);
      const { runs } = JSON.parse(await daemon.get('/api/v2/runs?waiting=true'));
      await fetch(`${daemon.url}/api/v2/runs/${runs[0].runId}/steps/go/approve`, { method: 'POST' });
      await page.getByRole('link', { name: '1 waits for you' }).waitFor();
      await page.goBack();
      await page.getByRole('link', { name: 'Answer go in child' }).click();
      await page.getByRole('button', { name: 'Approve' }).click();
      await page.locator('.run-header').getByText('Succeeded after').waitFor();
      await expect.poll(() => page.getByRole('link', { name: 'wait for you' }).count()).toBe(0);
    });
  });

  it('links to the sub-runs of sub-runs that wait for approval, and to no others', async () => {
    await withPage(files, async ({ open, start, daemon }) => {
      const [other, runId] = [await start('parent'), await start('grandparent')];
      const page = await open(`/runs/${runId}`);
      await page.getByRole('link', { name: '4 wait for you' }).waitFor();
      await page.getByRole('link', { name: 'Answer 2 sub-runs' }).waitFor();
      await page.reload();
      await page.getByRole('link', { name: 'Answer 2 sub-runs' }).waitFor();
      // Runs that wait for an approval would outlive the daemon.
      for (const run of [other, runId]) {
        expect((await fetch(`${daemon.url}/api/v2/runs/${run}/stop`, { method: 'POST' })).ok).toBe(true);
      }
      const isOver = async (run: string) => JSON.parse(await daemon.get(`/api/v2/runs/${run}`)).finishedAt !== null;
      await expect.poll(async () => (await Promise.all([other, runId].map(isOver))).every(Boolean)).toBe(true);
    });
  });
});
