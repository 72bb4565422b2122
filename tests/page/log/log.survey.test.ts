import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { browserPath } from '../../support/browser.ts';
import { describeWith } from '../../support/require.ts';
import { accessibilityProblems, withPage } from '../visits.ts';

const gate = (name: string) => `while ! test -e ${name}; do sleep 0.05; done`;

const files = {
  'odd.sh': `
printf '\\033[31mred\\033[0m \\033[48;5;22mon 256\\033[0m \\033[38;2;255;140;0mtrue\\033[0m\\n'
printf '\\033]8;;https://example.org/docs\\033\\\\the docs\\033]8;;\\033\\\\ \\033]8;;javascript:alert(1)\\033\\\\bad\\033]8;;\\033\\\\\\n'
printf '10%%\\r50%%\\r100%% done\\n'
printf 'bad \\377 byte\\n<img src=x onerror=alert(1)>\\n'
head -c 40000 /dev/zero | tr '\\0' x; echo end
`,
  'odd.yaml': 'steps:\n  - name: print\n    command: sh odd.sh\n',
  'long.yaml': `
logOutput: separate
steps:
  - name: count
    command: sh -c 'seq -f "row %.0f" 3000; echo first warning >&2; echo second warning >&2'
`,
  'live.yaml': `
steps:
  - name: tick
    command: sh -c 'seq 100; ${gate('go')}; seq 101 130; ${gate('on')}; seq 131 200; ${gate('end')}; echo last'
`,
};

const log = (page: Page) => page.locator('section.log');

/** The numbers of the first and the last line that can be seen. */
function visibleLines(page: Page): Promise<readonly [number, number]> {
  return page.evaluate<readonly [number, number]>(`(() => {
    const area = document.querySelector('section.log').getBoundingClientRect();
    const seen = [...document.querySelectorAll('.log-line')].filter((row) => {
      const { top, bottom } = row.getBoundingClientRect();
      return bottom > area.top + 2 && top < area.bottom - 2;
    });
    return [Number(seen[0]?.dataset.line), Number(seen.at(-1)?.dataset.line)];
  })()`);
}

const isVisible = async (page: Page, line: number) => {
  const [first, last] = await visibleLines(page);
  return first <= line && line <= last;
};

const hashOf = (page: Page) => new URL(page.url()).hash;

describeWith('chromium', browserPath !== null, 'the log of a step in a browser', () => {
  it('has colours, links and the last state of each line, and cuts long lines', async () => {
    await withPage(files, async ({ open, start }) => {
      const page = await open(`/runs/${await start('odd')}`);
      await page.locator('.log-line', { hasText: '100% done' }).waitFor();
      const lines = await page.locator('.log-text').allTextContents();

      expect(lines.slice(0, 5)).toEqual([
        'red on 256 true',
        'the docs bad',
        '100% done',
        'bad \ufffd byte',
        '<img src=x onerror=alert(1)>',
      ]);
      expect(await page.locator('.log-text a').evaluateAll((links) => links.map((each) => each.outerHTML))).toEqual([
        '<a href="https://example.org/docs" target="_blank" rel="noopener noreferrer">the docs</a>',
      ]);
      expect(lines[5]).toBe(`${'x'.repeat(10_000)}… show all of 40,003 bytes`);
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.getByRole('button', { name: 'show all of' }).click();
      await expect.poll(() => page.locator('.log-text').nth(5).textContent()).toBe(`${'x'.repeat(40_000)}end`);
    });
  });

  it('opens at the lines of the address, which a click and a shift-click change', async () => {
    await withPage(files, async ({ open, start }) => {
      const id = await start('long');
      const page = await open(`/runs/${id}?step=count&attempt=1&stream=stdout#L1204-L1210`);
      await page.locator('.log-line.selected').nth(6).waitFor();

      // The lines are placed before their texts have arrived.
      await expect
        .poll(() => page.locator('.log-line.selected .log-text').allTextContents())
        .toEqual(Array.from({ length: 7 }, (_, index) => `row ${1204 + index}`));
      expect(await isVisible(page, 1204)).toBe(true);
      await page.locator('[data-line="1208"] .log-number').click();
      expect(hashOf(page)).toBe('#L1208');
      await page.locator('[data-line="1206"] .log-text').click({ modifiers: ['Shift'] });
      expect(hashOf(page)).toBe('#L1206-L1208');
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.getByRole('button', { name: 'Copy' }).click();
      await page.getByText('Copied 3 lines.').waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe('row 1206\nrow 1207\nrow 1208');
      await page.keyboard.press('Escape');
      expect(hashOf(page)).toBe('');
      await page.getByRole('button', { name: 'stderr 2' }).click();
      await page.getByRole('region', { name: 'stderr of count, attempt 1' }).getByText('first warning').waitFor();
    });
  });

  it('is searched on the server, with the hits in order', async () => {
    await withPage(
      files,
      async ({ open, start }) => {
        const page = await open(`/runs/${await start('long')}?step=count&stream=stdout`);
        const find = page.getByRole('searchbox', { name: 'Find in the log' });
        await page.locator('.log-line').first().waitFor();

        await find.fill('ROW 29');
        await page.getByText('1/111').waitFor();
        await expect.poll(() => isVisible(page, 29)).toBe(true);
        expect(await page.locator('.current .match').textContent()).toBe('row 29');
        await find.press('Enter');
        await page.getByText('2/111').waitFor();
        await expect.poll(() => isVisible(page, 290)).toBe(true);
        await page.getByRole('button', { name: 'Previous hit' }).click();
        await page.getByRole('button', { name: 'Previous hit' }).click();
        await page.getByText('111/111').waitFor();
        await expect.poll(() => isVisible(page, 2999)).toBe(true);
        expect(await page.locator('.hit-marks path').count()).toBe(1);
        expect(await accessibilityProblems(page)).toEqual([]);
        await page.getByRole('button', { name: 'Match case' }).click();
        await page.getByText('no hit').waitFor();
        await find.fill('^row 1\\d$');
        await page.getByRole('button', { name: 'Regular expression' }).click();
        await page.getByText('1/10').waitFor();
        await page.reload();
        await page.getByText('1/10').waitFor();
        expect(new URL(page.url()).searchParams.get('find')).toBe('^row 1\\d$');
        await find.fill('(');
        await page.getByText('is not a valid regular expression').waitFor();
      },
      { expected: [/status of 400/] },
    );
  });

  it('has the time of each line while "Times" is on, which the browser remembers', async () => {
    await withPage(files, async ({ open, start, write }) => {
      const page = await open(`/runs/${await start('live')}?step=tick`);
      const times = page.locator('.log-time');
      await page.locator('.log-line', { hasText: '100' }).waitFor();
      expect([await times.count(), await page.getByRole('button', { name: /^std/ }).count()]).toEqual([0, 0]);

      await page.getByRole('button', { name: 'Times' }).click();
      await expect.poll(() => times.last().textContent()).toMatch(/^\d\d:\d\d:\d\d\.\d$/);
      expect(await accessibilityProblems(page)).toEqual([]);
      for (const name of ['go', 'on', 'end']) write(name, '');
      await page.locator('.log-line', { hasText: 'last' }).waitFor();
      await expect.poll(() => times.last().textContent()).toMatch(/^\d\d:\d\d:\d\d\.\d$/);
      await page.reload();
      await expect.poll(() => times.last().textContent()).toMatch(/^\d\d:\d\d:\d\d\.\d$/);
      await page.getByRole('button', { name: 'Times' }).click();
      await expect.poll(() => times.count()).toBe(0);
    });
  });

  it('follows its end until the user scrolls up', async () => {
    await withPage(files, async ({ open, start, write }) => {
      const page = await open(`/runs/${await start('live')}`);
      await expect.poll(() => isVisible(page, 100)).toBe(true);

      write('go', '');
      await expect.poll(() => isVisible(page, 130)).toBe(true);
      await log(page).hover();
      await page.mouse.wheel(0, -300);
      await expect.poll(() => isVisible(page, 130)).toBe(false);
      const before = await visibleLines(page);
      write('on', '');
      await page.getByRole('button', { name: '70 new lines' }).waitFor();
      expect(await visibleLines(page)).toEqual(before);
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.getByRole('button', { name: '70 new lines' }).click();
      await expect.poll(() => isVisible(page, 200)).toBe(true);
      await page.keyboard.press('f');
      expect(await page.getByRole('button', { name: 'Follow' }).getAttribute('aria-pressed')).toBe('false');
      await page.keyboard.press('f');
      write('end', '');
      await page.locator('.log-line', { hasText: 'last' }).waitFor();
      expect(await isVisible(page, 201)).toBe(true);
    });
  });

  it('scrolls the same way by keys and wheel when its lines are wrapped', async () => {
    await withPage(files, async ({ open, start }) => {
      const page = await open(`/runs/${await start('long')}?step=count&stream=stdout`);
      await page.locator('.log-line').first().waitFor();
      for (const isWrapped of [true, false]) {
        await page.getByRole('button', { name: 'Wrap' }).click();
        expect(await page.locator('section.log.wrap').count()).toBe(isWrapped ? 1 : 0);
        await log(page).focus();
        await page.keyboard.press('End');
        await expect.poll(() => isVisible(page, 3000)).toBe(true);
        const [end] = await visibleLines(page);
        await page.keyboard.press('PageUp');
        await expect.poll(async () => (await visibleLines(page))[1]).toBeLessThanOrEqual(end + 1);
        expect((await visibleLines(page))[1]).toBeGreaterThanOrEqual(end - 1);
        await page.keyboard.press('Home');
        await expect.poll(async () => (await visibleLines(page))[0]).toBe(1);
        await log(page).hover();
        await page.mouse.wheel(0, 180);
        await expect.poll(async () => (await visibleLines(page))[0]).toBe(11);
        await page.keyboard.press('Home');
      }
    });
  });
});
