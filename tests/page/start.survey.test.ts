import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { browserPath, plainHost } from '../support/browser.ts';
import { describeWith } from '../support/require.ts';
import { accessibilityProblems, withPage } from './visits.ts';

const files = {
  'params.yaml': `
params: { TEXT: plain, EMPTY: full, DAY: "\`date +%F\`" }
steps:
  - name: show
    command: printf '<%s>' "$TEXT" "$EMPTY" "$EXTRA"
`,
  'typed.yaml': `
params:
  - {name: STAGE, enum: [dev, prod], required: true, description: Where to ship}
  - {name: COUNT, type: integer, default: 2, maximum: 9}
  - {name: FORCE, type: boolean, default: no}
  - {name: KEY, secret: true}
steps:
  - name: show
    command: echo "$STAGE $COUNT $FORCE"
`,
  'strict.yaml': 'params: { ONE: 1 }\nsteps:\n  - name: show\n    command: echo $ONE\n',
};
const odd = `it's "a"  b\n$(x) $HOME; #é`;

/** The words that a shell reads from a command. */
function words(command: string, program: string): readonly string[] {
  const script = `${program}() { printf '%s\\0' "$@"; }; ${command}`;
  return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

describeWith('chromium', browserPath !== null, 'the form that starts a workflow in a browser', () => {
  it('starts one run with each value as typed, and offers the same as commands', async () => {
    await withPage(files, async ({ open, daemon }) => {
      const page = await open('/');
      await page.getByRole('link', { name: 'Start params' }).click();
      const dialog = page.getByRole('dialog', { name: 'Start params' });
      await dialog.getByLabel('TEXT', { exact: true }).fill(odd);
      expect(await dialog.getByLabel('DAY', { exact: true }).getAttribute('placeholder')).toBe('`date +%F`');
      await dialog.getByRole('button', { name: 'Use an empty value' }).first().click();
      await dialog.getByRole('button', { name: 'Add a parameter' }).click();
      await dialog.getByLabel('Name of parameter 1').fill('EXTRA');
      await dialog.getByLabel('Value of parameter 1').fill(' x ');
      expect(await accessibilityProblems(page)).toEqual([]);

      const params = [`TEXT=${odd}`, 'EMPTY=', 'EXTRA= x '];
      const command = (await dialog.locator('.command').textContent()) ?? '';
      expect(words(command, 'wf')).toEqual(['run', 'params.yaml', '--', ...params]);
      const request = words((await dialog.locator('.request').textContent()) ?? '', 'curl');
      expect(request.at(-1)).toBe(`${daemon.url}/api/v2/workflows/params.yaml/runs`);
      expect(JSON.parse(request.at(-2) ?? '')).toEqual({ params });

      await dialog.getByRole('button', { name: 'Start', exact: true }).dblclick();
      await page.locator('.run-header').waitFor();
      const { runs } = JSON.parse(await daemon.get('/api/v2/runs'));
      expect(runs.length).toBe(1);
      expect(runs[0].params.slice(0, 2)).toEqual([
        { name: 'TEXT', value: odd },
        { name: 'EMPTY', value: '' },
      ]);
      expect(runs[0].params.at(-1)).toEqual({ name: 'EXTRA', value: ' x ' });
    });
  });

  it('has a control for the type of each parameter, and marks invalid values', async () => {
    await withPage(
      files,
      async ({ open, daemon }) => {
        const page = await open('/w/typed.yaml/start');
        await page.getByLabel('COUNT').fill('20');
        await page.getByLabel('FORCE').selectOption('true');
        await page.getByLabel('KEY', { exact: true }).fill('sesame-open');
        expect(await page.locator('.command').textContent()).not.toContain('sesame');
        expect(await accessibilityProblems(page)).toEqual([]);
        await page.getByRole('button', { name: 'Start', exact: true }).click();
        await page.getByText('"STAGE" is required').waitFor();
        await page.getByText('"COUNT" must be at most 9').waitFor();
        await page.getByLabel('STAGE').selectOption('prod');
        await page.getByLabel('COUNT').fill('3');
        await page.getByRole('button', { name: 'Start', exact: true }).click();
        await page.getByText('prod 3 true').first().waitFor();
        const { runs } = JSON.parse(await daemon.get('/api/v2/runs'));
        expect(runs[0].params).toContainEqual({ name: 'KEY', value: '***', type: 'string', masked: true });
      },
      { expected: [/status of 400/] },
    );
  });

  it('is filled by a link and by a past run, and starts nothing by itself', async () => {
    await withPage(files, async ({ open, daemon }) => {
      const body = JSON.stringify({ params: { TEXT: 'of the past' } });
      const headers = { 'Content-Type': 'application/json' };
      await fetch(`${daemon.url}/api/v2/workflows/params/runs`, { method: 'POST', body, headers });
      const query = new URLSearchParams({ 'p.TEXT': odd, 'p.EXTRA': '1' });
      const page = await open(`/w/params.yaml/start?${query}`);
      const text = page.getByLabel('TEXT', { exact: true });
      await text.waitFor();
      expect([await text.inputValue(), await page.getByLabel('Value of parameter 1').inputValue()]).toEqual([odd, '1']);

      await page.getByLabel('As of run').selectOption({ index: 1 });
      await expect.poll(() => text.inputValue()).toBe('of the past');
      expect(await page.getByLabel('Value of parameter 1').count()).toBe(0);
      expect(await accessibilityProblems(page)).toEqual([]);
      expect(JSON.parse(await daemon.get('/api/v2/runs')).runs.length).toBe(1);
    });
  });

  it('copies a command over plain HTTP, where browsers have no clipboard for scripts', async () => {
    await withPage(
      files,
      async ({ open, daemon }) => {
        const page = await open('/');
        await page.goto(daemon.url.replace('127.0.0.1', plainHost));
        await page.getByRole('link', { name: 'Start strict' }).click();
        expect(await page.evaluate('[isSecureContext, navigator.clipboard]')).toEqual([false, undefined]);
        const dialog = page.getByRole('dialog');
        await dialog.getByRole('button', { name: 'Copy: In a shell' }).click();
        await dialog.getByText('Copied').waitFor();
        await dialog.getByLabel('ONE', { exact: true }).focus();
        await page.keyboard.press('Control+v');
        expect(await dialog.getByLabel('ONE', { exact: true }).inputValue()).toBe('wf run strict.yaml');
      },
      {
        options: ['--allowed-hosts', plainHost],
        outside: [`http://${plainHost}:`],
        expected: [/Cross-Origin-Opener-Policy header has been ignored/],
      },
    );
  });

  it('shows an error of the daemon at its field', async () => {
    await withPage(
      files,
      async ({ open, daemon }) => {
        const page = await open('/w/strict.yaml/start?p.TWO=2', { viewport: { width: 390, height: 800 } });
        await page.getByRole('button', { name: 'Start', exact: true }).click();
        await page.locator('.free-row', { hasText: 'unknown parameter "TWO"' }).waitFor();
        expect(await page.getByLabel('Value of parameter 1').getAttribute('aria-invalid')).toBe('true');
        expect(await accessibilityProblems(page)).toEqual([]);

        await page.getByRole('button', { name: 'Remove parameter 1' }).click();
        expect(await page.getByRole('button', { name: 'Add a parameter' }).count()).toBe(0);
        await page.getByLabel('ONE', { exact: true }).fill('11');
        await page.keyboard.press('Enter');
        await page.locator('.run-header').waitFor();
        expect(JSON.parse(await daemon.get('/api/v2/runs')).runs.length).toBe(1);
      },
      { expected: [/status of 400/] },
    );
  });

  it('does not offer values that the file fixes', async () => {
    const fixed = `
params: { DAY: monday }
runConfig: { disableParamEdit: true, disableRunIdEdit: true }
steps:
  - name: show
    command: echo "on $DAY $EXTRA"
`;
    await withPage({ 'fixed.yaml': fixed }, async ({ open }) => {
      const page = await open('/w/fixed.yaml/start?p.DAY=sunday');
      await page.getByText('The parameters cannot be changed').waitFor();
      expect(await page.getByLabel('DAY', { exact: true }).isDisabled()).toBe(true);
      expect(await page.getByLabel('DAY', { exact: true }).getAttribute('placeholder')).toBe('monday');
      expect(await page.getByRole('button', { name: 'Add a parameter' }).count()).toBe(0);
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.getByRole('button', { name: 'Start', exact: true }).click();
      await page.locator('.log-line', { hasText: 'on monday' }).waitFor();
    });
  });
});
