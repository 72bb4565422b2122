import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { browserPath } from '../support/browser.ts';
import { describeWith } from '../support/require.ts';
import { withPage } from './visits.ts';

const files = {
  'two.yaml': `
steps:
  - name: one
    command: echo from one
  - name: two
    depends: one
    command: echo from two
`,
  'wide.yaml': `
steps:
${['W', 'M', '@', 'Q', '8', 'w', 'д', '抽', '🚀', 'EXTRACT_'].map((letter) => `  - {name: "${letter.repeat(18)}", command: echo}`).join('\n')}
  - {name: EXTRACT_ALL_ORDERS, command: echo, depends: "${'W'.repeat(18)}"}
`,
};

/** In the browser: collects what moved by itself, as far as a reader notices. */
const watchShifts = `
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries())
      if (value > 0.01) window.shifts.push(sources.map(({ node }) => node?.className));
  }).observe({ type: 'layout-shift', buffered: true });
`;

const link = (page: Page, step: string) => page.locator('.graph').getByRole('link', { name: `${step}: succeeded` });
const lineWith = (page: Page, text: string) => page.locator('.log-line', { hasText: text });

describeWith('chromium', browserPath !== null, 'the graph of a run', () => {
  it('selects a step without loading the document again', async () => {
    await withPage(files, async ({ open, start }) => {
      const page = await open(`/runs/${await start('two')}?step=one`);
      await link(page, 'two').waitFor();
      await page.evaluate('window.isSameDocument = true');
      await page.getByRole('button', { name: '100 %' }).click();

      await link(page, 'two').click();
      await lineWith(page, 'from two').waitFor();
      await link(page, 'one').focus();
      await page.keyboard.press('Enter');
      await lineWith(page, 'from one').waitFor();
      await page.goBack();
      await lineWith(page, 'from two').waitFor();
      expect(new URL(page.url()).searchParams.get('step')).toBe('two');
      expect(await page.evaluate('window.isSameDocument')).toBe(true);
    });
  });

  it('cuts a name of wide letters where its box ends', async () => {
    await withPage(files, async ({ open }) => {
      const page = await open('/w/wide');
      const names = page.locator('.graph .name');
      await expect.poll(() => names.count()).toBe(11);
      const beyond = await names.evaluateAll((texts) =>
        texts.filter((text) => {
          const box = text.parentElement?.querySelector('rect')?.getBoundingClientRect();
          return box === undefined || text.getBoundingClientRect().right > box.right - 1;
        }),
      );
      expect(beyond).toEqual([]);
      const titles = page.locator('.graph title');
      expect(await titles.allTextContents()).toContain('W'.repeat(18));
      expect(await names.allTextContents()).toContain('EXTRACT_ALL_ORDERS');
    });
  });

  it('of a small file has its place before it is drawn', async () => {
    await withPage(files, async ({ open, start }) => {
      await start('two');
      const page = await open('/w/two', {}, async (next) => void (await next.addInitScript(watchShifts)));
      await page.locator('.graph .name').first().waitFor();
      await page.locator('.run-row').waitFor();
      expect(await page.evaluate('window.shifts')).toEqual([]);
    });
  });

  it('opens a step in another tab by a click with Ctrl', async () => {
    await withPage(files, async ({ open, start }) => {
      const page = await open(`/runs/${await start('two')}?step=one`);
      await link(page, 'two').waitFor();
      const [tab] = await Promise.all([
        page.context().waitForEvent('page'),
        link(page, 'two').click({ modifiers: ['Control'] }),
      ]);

      await lineWith(tab, 'from two').waitFor();
      expect(new URL(page.url()).searchParams.get('step')).toBe('one');
    });
  });
});
