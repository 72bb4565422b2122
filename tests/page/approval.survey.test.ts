import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { browserPath } from '../support/browser.ts';
import { describeWith } from '../support/require.ts';
import { accessibilityProblems, withPage } from './visits.ts';

const files = {
  'release.yaml': `
steps:
  - name: build
    command: echo built
  - name: ship
    depends: build
    approval:
      prompt: Ship it to production?
      input:
        - { name: REGION, enum: [north, south], required: true, description: Where it goes first. }
        - { name: PERCENT, type: integer, default: 10, minimum: 1, maximum: 100 }
  - name: announce
    depends: ship
    command: echo "shipped to $REGION at $PERCENT"
`,
  'beside.yaml': `
type: graph
steps:
  - name: ship
    approval:
      prompt: Ship it?
  - name: other
    command: sh -c 'while ! test -e broken; do sleep 0.05; done; exit 1'
`,
  'password.txt': 'open sesame\n',
  'writer.txt': 'a-token-to-write\n',
  'reader.txt': 'a-token-to-read\n',
};

const pane = (page: Page) => page.getByRole('region', { name: 'Approval of ship' });
const field = (page: Page, name: string) => pane(page).getByLabel(name, { exact: true });
const approve = (page: Page) => pane(page).getByRole('button', { name: 'Approve' }).click();

const logins = {
  options: [
    ...['--username', 'anna', '--password-file', 'password.txt'],
    ...['--token-file', 'writer.txt', '--read-only-token-file', 'reader.txt'],
  ],
};

async function logIn(page: Page, secret: string, name = ''): Promise<void> {
  await page.locator('input[type=password]').waitFor();
  if (name !== '') await page.getByLabel('Name').fill(name);
  await page.locator('input[type=password]').fill(secret);
  await page.getByRole('button', { name: 'Log in' }).click();
}

describeWith('chromium', browserPath !== null, 'an approval in a browser', () => {
  it('is announced above every screen and in the list of workflows', async () => {
    await withPage(files, async ({ open, start, stop }) => {
      const runId = await start('beside');
      const page = await open('/w/beside.yaml/start');
      await page.getByRole('link', { name: '1 waits for you' }).waitFor();
      await page.getByRole('link', { name: 'Workflows' }).click();
      await page.locator('.row', { hasText: 'beside' }).getByText('awaiting approval').waitFor();
      await stop(runId);
    });
  });

  it('is given with its inputs, and an invalid one is marked', async () => {
    await withPage(
      files,
      async ({ open, start }) => {
        const page = await open(`/runs/${await start('release')}?step=build`);
        await page.getByRole('link', { name: 'Answer ship' }).click();
        await pane(page).getByText('Ship it to production?').waitFor();
        await page.locator('.run-header').getByText('Awaiting approval, running for').waitFor();
        expect(await page.title()).toMatch(/^✋ release /);
        expect(await page.getByRole('link', { name: 'ship: awaiting approval, needs build' }).count()).toBe(1);
        expect(await field(page, 'REGION').locator('option').allTextContents()).toEqual([
          'Choose a value',
          'north',
          'south',
        ]);
        expect(await accessibilityProblems(page)).toEqual([]);
        await field(page, 'PERCENT').fill('200');
        await approve(page);
        await pane(page).getByText('input "REGION" is required and cannot be empty').waitFor();
        expect(await field(page, 'PERCENT').getAttribute('aria-invalid')).toBe('true');
        expect(await accessibilityProblems(page)).toEqual([]);

        await field(page, 'REGION').selectOption('south');
        await field(page, 'PERCENT').fill('25');
        await field(page, 'Comment').fill('checked by hand');
        await approve(page);
        await page.locator('.run-header').getByText('Succeeded after').waitFor();
        await expect.poll(() => pane(page).textContent()).toMatch(/approved by .* at .*checked by hand/);
        expect(await pane(page).getByRole('button').count()).toBe(0);
        await page.getByRole('link', { name: 'announce: succeeded' }).click();
        await page.locator('.log-line', { hasText: 'shipped to south at 25' }).waitFor();
      },
      { expected: [/status of 400/] },
    );
  });

  it('is rejected after a question, with a reason', async () => {
    await withPage(files, async ({ open, start }) => {
      const page = await open(`/runs/${await start('release')}`);
      await field(page, 'Comment').fill('not on a Friday');
      await pane(page).getByRole('button', { name: 'Reject' }).click();
      await page.getByRole('dialog').getByText('The step fails').waitFor();
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.getByRole('button', { name: 'Reject the step' }).click();

      await page.locator('.run-header').getByText('Failed after').waitFor();
      await pane(page).getByText('rejected by').waitFor();
      expect(await pane(page).textContent()).toContain('not on a Friday');
      expect(await accessibilityProblems(page)).toEqual([]);
    });
  });

  it('stays on the screen with what the user has entered when another step fails', async () => {
    await withPage(files, async ({ open, start, write }) => {
      const page = await open(`/runs/${await start('beside')}`);
      await field(page, 'Comment').fill('checked by hand');
      await pane(page).getByRole('button', { name: 'Reject' }).click();
      await page.getByRole('dialog').waitFor();
      write('broken', '');
      await page.getByText('Step other failed').waitFor({ state: 'attached' });

      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
      expect(await field(page, 'Comment').inputValue()).toBe('checked by hand');
      await approve(page);
      await page.locator('.run-header').getByText('Failed after').waitFor();
      await pane(page).getByText('approved by').waitFor();
    });
  });

  it('by the first of two users is counted, and a read-only login sees only the state', async () => {
    await withPage(
      files,
      async ({ daemon, open }) => {
        const headers = { Authorization: 'Bearer a-token-to-write' };
        const answer = await fetch(`${daemon.url}/api/v2/workflows/release/runs`, { method: 'POST', headers });
        const { runId } = (await answer.json()) as { runId: string };
        const [anna, other, reader] = [
          await open(`/runs/${runId}`),
          await open(`/runs/${runId}`),
          await open(`/runs/${runId}`),
        ];
        await logIn(anna, 'open sesame', 'anna');
        await logIn(other, 'a-token-to-write');
        await logIn(reader, 'a-token-to-read');
        await pane(reader).getByText('It asks for REGION, PERCENT.').waitFor();
        expect(await pane(reader).getByRole('button').count()).toBe(0);
        expect(await reader.getByRole('link', { name: 'Answer ship' }).count()).toBe(0);
        expect(await accessibilityProblems(reader)).toEqual([]);
        for (const page of [anna, other]) await field(page, 'REGION').selectOption('north');

        // The second request is sent after the answer to the first.
        const answered = anna.waitForResponse(/\/approve$/);
        await other.route(/\/approve$/, async (route) => {
          await answered;
          await route.continue();
        });
        await approve(other);
        await approve(anna);
        await pane(other).getByRole('alert').getByText('step "ship" was already approved by anna').waitFor();
        await pane(other).getByText('approved by anna at').waitFor();
        await pane(anna).getByText('approved by anna at').waitFor();
        expect(await pane(anna).getByRole('alert').count()).toBe(0);
      },
      { ...logins, expected: [/status of 40[19]/] },
    );
  });
});
