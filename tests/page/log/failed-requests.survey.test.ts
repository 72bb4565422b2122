import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { browserPath } from '../../support/browser.ts';
import { describeWith } from '../../support/require.ts';
import { expireSession, withPage } from '../visits.ts';

const files = {
  'two.yaml': `
steps:
  - name: one
    command: echo from one
  - name: two
    depends: one
    command: echo from two
`,
  'write.txt': 'a-token-to-write',
};

const lineWith = (page: Page, text: string) => page.locator('.log-line', { hasText: text });
const chooseTwo = (page: Page) => page.locator('.step-rows a', { hasText: 'two' }).first().click();

describeWith('chromium', browserPath !== null, 'a log whose request failed', () => {
  it('is read after a new login', async () => {
    await withPage(
      files,
      async (journey) => {
        const { daemon, open } = journey;
        const headers = { Authorization: 'Bearer a-token-to-write' };
        const answer = await fetch(`${daemon.url}/api/v2/workflows/two/runs`, { method: 'POST', headers });
        const { runId } = (await answer.json()) as { runId: string };
        const page = await open(`/runs/${runId}?step=one&view=steps`);
        await page.locator('input[type=password]').fill('a-token-to-write');
        await page.getByRole('button', { name: 'Log in' }).click();
        await page.locator('.run-header').getByText('Succeeded after').waitFor();
        await lineWith(page, 'from one').waitFor();
        // The stream would report the end of the session before a log does.
        await page.route('**/api/v2/events*', () => {});
        await page.reload();
        await lineWith(page, 'from one').waitFor();
        await expireSession(page, journey);
        await chooseTwo(page);

        await page.getByRole('heading', { name: 'The session has ended' }).waitFor();
        await page.locator('input[type=password]').fill('a-token-to-write');
        await page.getByRole('dialog').getByRole('button', { name: 'Log in' }).click();
        await lineWith(page, 'from two').waitFor();
        expect(await page.locator('.note').count()).toBe(0);
      },
      { options: ['--token-file', 'write.txt'], expected: [/status of 401/] },
    );
  });

  it('is read when the daemon answers again', async () => {
    await withPage(
      files,
      async ({ open, start }) => {
        const page = await open(`/runs/${await start('two')}?step=one&view=steps`);
        await lineWith(page, 'from one').waitFor();
        await page.locator('.run-header').getByText('Succeeded after').waitFor();
        await page.route('**/logs/index*', (route) => route.abort('connectionreset'));
        await chooseTwo(page);
        await page.getByText('the daemon does not answer').waitFor();
        await page.unroute('**/logs/index*');
        await lineWith(page, 'from two').waitFor();
        expect(await page.locator('.note').count()).toBe(0);
      },
      { expected: [/ERR_/] },
    );
  });

  it('is searched when the daemon answers again', async () => {
    await withPage(
      files,
      async ({ open, start }) => {
        const page = await open(`/runs/${await start('two')}?step=two`);
        await lineWith(page, 'from two').waitFor();
        await page.route('**/logs/search*', (route) => route.abort('connectionreset'));
        await page.getByRole('searchbox', { name: 'Find in the log' }).fill('two');
        await page.getByText('the daemon does not answer').waitFor();
        await page.unroute('**/logs/search*');
        await page.getByText('1/1').waitFor();
        expect(await page.locator('.note').count()).toBe(0);
      },
      { expected: [/ERR_/] },
    );
  });

  it('is not copied, which the page reports', async () => {
    await withPage(
      files,
      async ({ open, start }) => {
        const page = await open(`/runs/${await start('two')}?step=two`);
        await lineWith(page, 'from two').waitFor();
        await page.route('**/logs?*', (route) => route.abort('connectionreset'));
        await page.getByRole('button', { name: 'Copy' }).click();
        await page.getByText('Not copied: the daemon does not answer.').waitFor();
      },
      { expected: [/ERR_/] },
    );
  });
});
