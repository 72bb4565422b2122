import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { browserPath } from '../support/browser.ts';
import { describeWith } from '../support/require.ts';
import { accessibilityProblems, withPage } from './visits.ts';

const files = {
  'flow.yaml': `
steps:
  - name: first
    command: echo one
  - name: broken
    command: "false"
    depends: first
    retryPolicy: { limit: 1, intervalSec: 0 }
  - name: beside
    command: "false"
    depends: first
`,
};

const stepOf = (page: Page) => new URL(page.url()).searchParams.get('step');
const typed = `
params:
  - { name: STAGE, enum: [staging, production] }
steps: [{ name: one, command: echo one }]
`;

/** Waits until an element has the focus. */
async function expectFocus(element: Locator): Promise<void> {
  await expect.poll(() => element.evaluate((each) => each === document.activeElement)).toBe(true);
}

const focused = (page: Page) => page.evaluate(`document.activeElement?.textContent`);

describeWith('chromium', browserPath !== null, 'the page without a mouse, and on small screens', () => {
  it('leads by keyboard from the list to a failed step and to a retry', async () => {
    await withPage(files, async ({ open, start }) => {
      const runId = await start('flow');
      const page = await open('/');
      await page.locator('.row').waitFor();
      await page.keyboard.press('j');
      await page.keyboard.press('Enter');
      await page.locator('.graph .name', { hasText: 'broken' }).waitFor();
      expect(new URL(page.url()).pathname).toBe('/w/flow.yaml');

      await page.goto(`${new URL(page.url()).origin}/runs/${runId}`);
      await page.getByRole('link', { name: /^beside: failed/ }).waitFor();
      await page.keyboard.press('n');
      await expect.poll(() => stepOf(page)).toBe('beside');
      await page.keyboard.press('p');
      await expect.poll(() => stepOf(page)).toBe('broken');
      await page.locator('.attempts button').first().waitFor();
      await page.keyboard.press('[');
      await expect.poll(() => new URL(page.url()).searchParams.get('attempt')).toBe('1');
      await page.keyboard.press('5');
      await page.locator('.facts-list', { hasText: 'Exit code' }).waitFor();
      await page.keyboard.press('2');
      await page.locator('.timeline tbody tr').first().waitFor();
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.keyboard.press('1');
      await page.getByRole('link', { name: /^first: / }).focus();
      await page.keyboard.press('ArrowRight');
      await expect.poll(() => focused(page)).toContain('needs first');
      await page.keyboard.press('ArrowLeft');
      await expect.poll(() => focused(page)).toContain('first: succeeded');

      await page.keyboard.press('r');
      await page.locator('.run-header', { hasText: 'retry of' }).waitFor();
      await page.keyboard.press('s');
      await page.getByRole('heading', { name: 'Start flow' }).waitFor();
      await page.keyboard.press('s');
      await expect.poll(() => page.getByRole('option').allTextContents()).toEqual(['Start flowaction']);
      await page.keyboard.press('Escape');
      await page.keyboard.press('g');
      await page.keyboard.press('w');
      await page.locator('.row').waitFor();
      await page.keyboard.press('j');
      await page.keyboard.press('s');
      await page.getByRole('dialog', { name: 'Start flow' }).waitFor();
      await page.keyboard.press('Escape');
      await page.keyboard.press('g');
      await page.keyboard.press('s');
      await page.getByRole('heading', { level: 1 }).waitFor();
      expect(new URL(page.url()).pathname).toBe('/system');
    });
  });

  it('returns the focus to what opened a dialog', async () => {
    await withPage({ ...files, 'typed.yaml': typed }, async ({ open }) => {
      const page = await open('/');
      const isFocused = (role: 'button' | 'link', name: string) =>
        expectFocus(page.getByRole(role, { name, exact: true }));
      await page.locator('.row').nth(1).waitFor();
      await page.keyboard.press('j');
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox').waitFor();
      await page.keyboard.press('Escape');
      await isFocused('link', 'flow');

      await page.getByRole('link', { name: 'Start typed' }).press('Enter');
      await expectFocus(page.getByLabel('STAGE', { exact: true }));
      await page.keyboard.press('Escape');
      await isFocused('link', 'Start typed');
      await page.getByRole('link', { name: 'Start flow' }).press('Enter');
      await expectFocus(page.getByRole('dialog').getByRole('button', { name: 'Start' }));
      await page.getByRole('button', { name: 'Close' }).click();
      await isFocused('link', 'Start flow');

      await page.getByRole('button', { name: 'New', exact: true }).press('Enter');
      await expectFocus(page.getByLabel('Name', { exact: true }));
      await page.keyboard.press('Escape');
      await isFocused('button', 'New');

      await page.getByRole('link', { name: 'flow', exact: true }).click();
      for (const [item, close] of [
        ['Rename or move', 'Escape'],
        ['Copy', 'Cancel'],
        ['Delete', 'Escape'],
        ['Delete', 'Cancel'],
      ] as const) {
        await page.getByRole('button', { name: 'More for flow' }).press('Enter');
        await page.getByRole('menuitem', { name: item }).press('Enter');
        await page.getByRole('dialog').waitFor();
        if (close === 'Escape') await page.keyboard.press('Escape');
        else await page.getByRole('button', { name: 'Cancel' }).click();
        await isFocused('button', 'More for flow');
      }
    });
  });

  it('gives the focus to a new screen, and returns to the same part of the list of workflows', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `flow${10 + index}.yaml`);
    await withPage(Object.fromEntries(names.map((name) => [name, files['flow.yaml']])), async ({ open }) => {
      const page = await open('/');
      await page.getByRole('link', { name: 'flow40', exact: true }).press('Enter');
      await page.getByRole('heading', { name: 'flow40' }).waitFor();
      await expectFocus(page.locator('main'));
      expect(await page.evaluate('scrollY')).toBe(0);
      await page.goBack();
      await page.getByRole('link', { name: 'flow40', exact: true }).waitFor();
      await expect.poll(() => page.evaluate('scrollY')).toBeGreaterThan(500);
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox').fill('flow20');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'flow20' }).waitFor();
      await expectFocus(page.locator('main'));
    });
  });

  it('returns to the same part of the system, and of the history of a workflow', async () => {
    await withPage(files, async ({ open, start }) => {
      await start('flow');
      const page = await open('/system', { viewport: { width: 1280, height: 200 } });
      const returnsTo = async (heading: string) => {
        await page.getByText(heading).first().waitFor();
        await page.evaluate('scrollTo(0, 120)');
        await page.keyboard.press('g');
        await page.keyboard.press('w');
        await page.getByRole('heading', { name: 'Workflows' }).waitFor();
        await page.goBack();
        await page.getByText(heading).first().waitFor();
        await expect.poll(() => page.evaluate('scrollY')).toBe(120);
      };
      await returnsTo('Node.js');
      await page.goto(`${new URL(page.url()).origin}/w/flow?tab=history`);
      await returnsTo('1 run');
    });
  });

  it('ignores single keys if they are switched off', async () => {
    await withPage(files, async ({ open }) => {
      const page = await open('/');
      await page.locator('.row').waitFor();
      await page.keyboard.press('?');
      await page.getByRole('checkbox', { name: 'Single keys are on' }).uncheck();
      await page.getByRole('button', { name: 'Close' }).click();
      await page.keyboard.press('?');
      await page.keyboard.press('g');
      await page.keyboard.press('r');

      expect(await page.getByRole('dialog').count()).toBe(0);
      expect(new URL(page.url()).pathname).toBe('/');
      await page.getByRole('button', { name: 'Keys' }).click();
      await page.getByRole('checkbox', { name: 'Single keys are on' }).check();
      await page.keyboard.press('Escape');
      await page.locator('dialog').waitFor({ state: 'detached' });
      await page.keyboard.press('?');
      await page.getByRole('heading', { name: 'Keys' }).waitFor();
    });
  });

  it('fits a screen of 320 pixels, as one of 1,280 has if everything is enlarged four times', async () => {
    await withPage(files, async ({ open, start, daemon }) => {
      const runId = await start('flow');
      const page = await open('/', { viewport: { width: 320, height: 200 }, deviceScaleFactor: 4 });
      for (const path of [
        '/',
        '/runs',
        '/system',
        '/w/flow',
        '/w/flow/start',
        `/runs/${runId}`,
        `/runs/${runId}?view=timeline`,
      ]) {
        await page.goto(daemon.url + path);
        await page.getByRole('heading', { level: 1 }).first().waitFor();
        for (const height of [200, 640]) {
          await page.setViewportSize({ width: 320, height });
          const width = await page.evaluate('document.documentElement.scrollWidth');
          expect({ path, height, width }).toEqual({ path, height, width: 320 });
        }
        expect(await accessibilityProblems(page)).toEqual([]);
      }
    });
  });
});
