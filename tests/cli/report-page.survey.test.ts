import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { browserPath, launchBrowser, plainHost, visit } from '../support/browser.ts';
import { describeWith } from '../support/require.ts';
import { wf } from '../support/wf.ts';

const attack = `<script>window.executed=1</script><img src="http://127.0.0.1:9/x" onerror="window.executed=2">]]>--></title></style></script>'"&amp;\u202e`;

const hostile = `
name: ${JSON.stringify(attack)}
description: ${JSON.stringify(attack)}
params: ${JSON.stringify({ P: attack })}
steps:
  - name: ${JSON.stringify(`first ${attack}`)}
    description: ${JSON.stringify(attack)}
    command: cat hostile.txt
    output: OUT
  - name: second
    command: sh -c 'cat hostile.txt hostile.txt >&2; exit 1'
    depends: ${JSON.stringify([`first ${attack}`])}
    retryPolicy: { limit: 2, intervalSec: 0.3 }
  - name: third
    command: "true"
    depends: second
handlerOn:
  failure: { command: cat hostile.txt }
`;

describeWith('chromium', browserPath !== null, 'a report in a browser', () => {
  let directory: string;
  let browser: Browser;
  let site: Awaited<ReturnType<typeof serve>>;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'wf-test-'));
    writeFileSync(join(directory, 'workflow.yaml'), hostile);
    writeFileSync(join(directory, 'hostile.txt'), `${attack}\n\u001b[31m${attack}\u001b[0m\n\u001b]0;title\u0007\n`);
    const options = { cwd: directory, env: { WF_HOME: join(directory, 'home') } };
    expect((await wf(['run', 'workflow.yaml'], options)).code).toBe(1);
    expect((await wf(['report', '-o', 'report.html'], options)).code).toBe(0);
    site = await serve(join(directory, 'report.html'));
    browser = await launchBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    site?.close();
    rmSync(directory, { recursive: true });
  });

  const open = (options: BrowserContextOptions = {}) => visit(browser, site.address, options);

  it('requests nothing, runs none of its content, and shows it as text', async () => {
    site.requested.length = 0;
    const { page, requests, messages } = await open({ viewport: { width: 1280, height: 900 } });
    await page.getByRole('button', { name: 'Open all' }).click();
    const picture = join(directory, 'report.png');
    await page.screenshot({ path: picture, fullPage: true });

    expect(statSync(picture).size).toBeGreaterThan(20_000);
    expect({ requests, messages }).toEqual({ requests: [site.address], messages: [] });
    expect(site.requested).toEqual(['/']);
    expect(await page.evaluate('[globalThis.executed, document.scripts.length]')).toEqual([undefined, 1]);
    const shown = attack.replace('\u202e', '<U+202E>');
    expect(await page.locator('h1').textContent()).toBe(shown);
    expect(await page.locator('.step h3 bdi').first().textContent()).toBe(`first ${shown}`);
    expect(await page.locator('.step .log').first().textContent()).toContain(shown);
    expect(await page.locator('.outputs pre').textContent()).toContain(shown);
    expect(await page.locator('.params td').textContent()).toBe(shown);
  });

  it('could not make a request', async () => {
    const { page } = await open();

    expect(await probe(page, 'try-to-load.js')).toEqual(['refused', 'refused', undefined]);
  });

  it('shows everything without scripts', async () => {
    const { page } = await open({ javaScriptEnabled: false });
    const headings = await page.locator('h2').allTextContents();

    expect(headings).toEqual(['What failed', 'Graph', 'Timeline', 'Steps', 'Workflow']);
    expect(await page.locator('.tools').isVisible()).toBe(false);
    await page.locator('.step summary').first().click();
    expect(await page.locator('.step').first().locator('.log').isVisible()).toBe(true);
    expect(await page.locator('.timeline tbody tr').count()).toBe(3);
    expect(await page.locator('.timeline rect.bar.failed').count()).toBe(3);
    expect(await page.locator('.timeline line.wait').count()).toBe(2);
  });

  it('links the graph, the timeline and positions of errors to their details', async () => {
    const { page } = await open();

    await page.locator('.graph a', { hasText: 'third' }).click();
    expect(await page.locator('.step', { hasText: 'third' }).getAttribute('open')).toBe('');
    await page.locator('.timeline a').first().click();
    expect(await page.locator('.step').first().getAttribute('open')).toBe('');
    await page.locator('.failure a', { hasText: 'workflow.yaml:10:5' }).click();
    expect(await page.locator('.frame-line:target').textContent()).toBe('10  - name: second\n');
  });

  it('copies a log from a file and over plain HTTP', async () => {
    const { page } = await open();
    const log = await page.locator('.copy:visible + .log').first().textContent();
    for (const address of [`file://${join(directory, 'report.html')}`, site.address.replace('127.0.0.1', plainHost)]) {
      await page.goto(address);
      if (address.startsWith('file:')) await page.context().grantPermissions(['clipboard-write']);
      await page.locator('.copy:visible').first().click();
      await page.locator('.copy', { hasText: 'Copied' }).waitFor();
      await page.getByRole('searchbox').focus();
      await page.keyboard.press('Control+v');
      // A field of one line takes no line ends.
      const plain = (text: string) => text.replace(/\s/g, '').slice(0, 200);
      expect(plain(await page.getByRole('searchbox').inputValue())).toBe(plain(log ?? ''));
    }
  });

  it('shows the times of lines on request, in the chosen time zone, beside the text', async () => {
    const { page } = await open({ timezoneId: 'Pacific/Kiritimati' });
    const log = page.locator('.log:has(time)').first();
    const shownTime = () =>
      page.evaluate("getComputedStyle(document.querySelector('.log time'), '::before').content.slice(1, -1)");
    expect(await shownTime()).not.toMatch(/\d/);
    const [text, at] = [
      await log.textContent(),
      Date.parse((await log.locator('time').first().getAttribute('datetime')) ?? ''),
    ];

    await page.getByLabel('Line times').check();
    expect(await shownTime()).toMatch(/^\d\d:\d\d:\d\d\.\d$/);
    await page.getByRole('button', { name: 'Times: as written' }).click();
    expect(await shownTime()).toBe(new Date(at).toISOString().slice(11, 21));
    await page.getByRole('button', { name: 'Times: UTC' }).click();
    expect(await shownTime()).toBe(new Date(at + 14 * 3_600_000).toISOString().slice(11, 21));
    expect(await log.textContent()).toBe(text);
  });

  it('prints every open step with its whole log, without controls', async () => {
    const { page } = await open({ viewport: { width: 800, height: 1000 } });
    await page.getByRole('button', { name: 'Open all' }).click();
    const logs = page.locator('.step .log:visible');
    const count = await logs.count();
    await page.emulateMedia({ media: 'print' });

    expect([await logs.count(), count > 2]).toEqual([count, true]);
    const cut = await logs.evaluateAll((all) => all.filter((log) => log.scrollHeight > log.clientHeight + 1).length);
    expect(cut).toBe(0);
    expect(await page.locator('button:visible, input:visible').count()).toBe(0);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(800);
    expect((await page.pdf()).length).toBeGreaterThan(20_000);
  });

  it('has a script of at most 4 kB', () => {
    expect(statSync(join(import.meta.dirname, '../../dist/assets/report.js')).size).toBeLessThanOrEqual(4096);
  });

  it('draws all of 1,000 steps, finds a step and opens it', async () => {
    const steps = Array.from({ length: 1000 }, (_, index) => {
      const depends = index === 0 ? '' : `, depends: s${Math.floor((index - 1) / 3)}`;
      return `  - { name: s${index}, command: "true"${depends} }`;
    });
    writeFileSync(join(directory, 'large.yaml'), `steps:\n${steps.join('\n')}\n`);
    const options = { cwd: directory, env: { WF_HOME: join(directory, 'home') } };
    expect((await wf(['run', '-q', 'large.yaml'], options)).code).toBe(0);
    expect((await wf(['report', '-o', 'large.html'], options)).code).toBe(0);
    const { page, messages } = await visit(browser, `file://${join(directory, 'large.html')}`, {});

    expect(await page.locator('.step').count()).toBe(1000);
    expect(await page.locator('.graph a').count()).toBe(1000);
    await page.getByRole('searchbox').fill('s999');
    expect(await page.locator('.step:visible h3 bdi').allTextContents()).toEqual(['s999']);
    await page.locator('.graph a', { hasText: 's999' }).click();
    expect(await page.locator('.step[open] h3 bdi').allTextContents()).toEqual(['s999']);
    expect(messages).toEqual([]);
  });

  it('finds steps by name and by status', async () => {
    const { page } = await open();
    const visible = () => page.locator('.step:visible h3 bdi').allTextContents();

    await page.getByRole('searchbox').fill('SEC');
    expect(await visible()).toEqual(['second']);
    await page.getByRole('searchbox').fill('');
    await page.getByRole('combobox').selectOption('not run');
    expect(await visible()).toEqual(['third']);
  });

  it.each(['light', 'dark'] as const)('is readable in %s colours, and on a phone', async (colorScheme) => {
    const { page } = await open({ colorScheme, viewport: { width: 360, height: 740 } });
    await page.getByRole('button', { name: 'Open all' }).click();

    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    expect(await probe(page, 'poor-contrasts.js')).toEqual([]);
  });
});

/** As a web server has it, where a browser would also look for an icon. Every other address is an image. */
async function serve(file: string) {
  const requested: string[] = [];
  const server = createServer((request, response) => {
    requested.push(request.url ?? '');
    if (request.url === '/') response.setHeader('content-type', 'text/html').end(readFileSync(file));
    else response.setHeader('content-type', 'image/svg+xml').end('<svg xmlns="http://www.w3.org/2000/svg"/>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { address, requested, close };
}

/** The result of a script of `page-probes` that runs in the page. */
function probe(page: Page, name: string): Promise<unknown> {
  return page.evaluate(readFileSync(join(import.meta.dirname, 'page-probes', name), 'utf8'));
}
