import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { browserPath } from '../support/browser.ts';
import { describeWith } from '../support/require.ts';
import { withPage } from './visits.ts';

const files = {
  'broken.yaml': 'steps:\n  - name: one\n    comand: echo one\n',
  'etl.yaml': `schedule: "0 2 * * *"
logOutput: separate
steps:
  - name: load
    command: printf 'first\\nsecond\\n'
  - name: report
    command: echo
    depends: load
`,
};

const forced = { forcedColors: 'active', colorScheme: 'dark' } as const;

/** The values of a property of each element, as the browser draws it. */
function stylesOf(page: Page, selector: string, property: string): Promise<readonly string[]> {
  return page
    .locator(selector)
    .evaluateAll((all, name) => all.map((each) => getComputedStyle(each).getPropertyValue(name)), property);
}

/** Whether the only element of a kind can be distinguished from the others by a property. */
async function marked(page: Page, selector: string, which: string, property: string): Promise<boolean> {
  const own = await stylesOf(page, `${selector}${which}`, property);
  const others = await stylesOf(page, `${selector}:not(${which})`, property);
  expect(own).toHaveLength(1);
  expect(others.length).toBeGreaterThan(0);
  return !others.includes(own[0] ?? '');
}

describeWith('chromium', browserPath !== null, 'the page in forced colours', () => {
  it('shows the text of a problem and the states of controls', async () => {
    await withPage(files, async ({ open, start }) => {
      await start('etl');
      const page = await open('/', forced);
      await page.locator('.frame mark').waitFor();

      expect(await stylesOf(page, '.frame mark', 'color')).toEqual(await stylesOf(page, '.frame', 'color'));
      expect(await marked(page, '.top-bar nav a', '[aria-current]', 'border-bottom-color')).toBe(true);
      const isKnobVisible = async () =>
        (await stylesOf(page, '.switch .knob', 'background-color'))[0] !==
        (await stylesOf(page, '.switch', 'background-color'))[0];
      expect(await isKnobVisible()).toBe(true);
      await page.getByRole('switch').click();
      await page.getByText('suspended').waitFor();
      expect(await isKnobVisible()).toBe(true);
      await page.keyboard.press('Control+k');
      await page.getByRole('option').nth(1).waitFor();
      expect(await marked(page, '[role="option"]', '[aria-selected="true"]', 'background-color')).toBe(true);
    });
  });

  it('shows what is selected in a run, and drawings in the colours of the system', async () => {
    await withPage(files, async ({ open, start }) => {
      const page = await open(`/runs/${await start('etl')}?step=load&view=steps#L2`, forced);
      await page.locator('.log-line.selected').waitFor();

      expect(await marked(page, '.steps-pane .step-row', '[aria-current]', 'border-left-width')).toBe(true);
      expect(await marked(page, '.steps-pane .tab', '[aria-pressed="true"]', 'border-bottom-color')).toBe(true);
      expect(await marked(page, '.chip', '[aria-pressed="true"]', 'background-color')).toBe(true);
      const numbers = await stylesOf(page, '.log-line .log-number', 'background-color');
      expect(new Set(numbers).size).toBe(2);
      await page.getByRole('button', { name: 'Timeline' }).click();
      await page.locator('.timeline tr.selected').waitFor();
      expect(await stylesOf(page, '.timeline tr.selected th', 'border-left-width')).toEqual(['4px']);

      // The choice of a theme does not apply: the system chooses the colours of the texts.
      await page.getByTitle(/^Colours/).click();
      expect(await page.evaluate(() => document.documentElement.dataset['theme'])).toBe('light');
      await page.getByRole('button', { name: 'Graph' }).click();
      await page.locator('.graph .box').first().waitFor();
      // The text is white.
      expect(new Set(await stylesOf(page, '.graph .box', 'fill'))).toEqual(new Set(['color(srgb 0 0 0)']));
    });
  });
});
