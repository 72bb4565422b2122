import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, expect, it } from 'vitest';
import { withPage } from '../page/visits.ts';
import { browserPath, launchBrowser, visit } from '../support/browser.ts';
import { describeWith } from '../support/require.ts';
import { wf, withDirectory } from '../support/wf.ts';

const folder = resolve(import.meta.dirname, '../../fixtures/workflows/every-feature');

/** A step, and what each of its features leaves where a person looks. */
const traces: readonly (readonly [string, RegExp])[] = [
  ['imported', /from another file/],
  // Typed parameters, dotenv files, defaults, and two values that are masked.
  ['settings', /ops prod 2 0\.5 true file option yes \*{3} \*{3}/],
  ['call', /hello db\.example\.com:443/],
  ['child', /hi ops|"GREETING"/],
  ['greeting', /the child says hi ops, 2 times to db/],
  ['aliases', /workflow {"TEAM":"ops","ENV":"prod","COUNT":2/],
  ['facts', /"version": "1\.4"/],
  ['read', /1 line, exit 0, succeeded, release/],
  ['counted', /shipped 2/],
  ['skipped', /was "2", expected "3"/],
  ['flaky', /try 2/],
  ['until', /round 2/],
  ['tolerated', /nothing found/],
  ['noted', /WARN disk/],
  ['server', /Service\s*ready/],
  ['approve', /Ship ops-prod\?/],
  ['ship', /shipped 10 % of 1\.4/],
  ['handlerOn.init', /prepared for ops-prod/],
  ['handlerOn.wait', /asked about approve/],
  ['handlerOn.success', /prepared for ops-prod and partially_succeeded/],
  ['handlerOn.exit', /done/],
];

const secrets = /pin-4711|hidden-in-file/;

describeWith('chromium', browserPath !== null, 'a run that uses every feature of the file', () => {
  const browser = launchBrowser();
  afterAll(async () => (await browser).close());

  it('shows each in its report', () =>
    withDirectory(async (home) => {
      const dir = join(home, 'files');
      cpSync(folder, dir, { recursive: true });
      const options = { cwd: dir, env: { WF_HOME: home } };
      const run = await wf(
        ['run', 'workflow.yaml', '--env-file', 'extra.env', '-p', 'TEAM=ops', '--run-id', 'r1'],
        options,
      );
      expect([run.code, run.stderr]).toEqual([0, '']);
      expect((await wf(['report', 'r1', '-o', 'report.html'], options)).code).toBe(0);
      const { page, messages } = await visit(await browser, pathToFileURL(join(dir, 'report.html')).href, {});
      const text = await page.locator('body').evaluate((body) => body.textContent ?? '');
      for (const [step, trace] of traces) expect([step, text]).toEqual([step, expect.stringMatching(trace)]);
      expect(text).toMatch(/hosts\[web1\]|web1/);
      expect(text).toMatch(/22,debian/);
      expect(text).not.toMatch(secrets);
      expect(messages).toEqual([]);
    }));

  it('shows each on its page', () => {
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.(yaml|env|json)$|^\.env$/.test(name),
    );
    const files = Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
    return withPage(files, async ({ daemon, open }) => {
      const body = JSON.stringify({ params: { TEAM: 'ops', FROM_OPTION: 'option' } });
      const headers = { 'content-type': 'application/json' };
      const started = await fetch(`${daemon.url}/api/v2/workflows/workflow/runs`, { method: 'POST', headers, body });
      const { runId } = (await started.json()) as { runId: string };
      const page = await open(`/runs/${runId}`);
      await page.getByText('partially succeeded', { exact: false }).first().waitFor();
      for (const [step, trace] of traces) {
        await page.goto(
          `${daemon.url}/runs/${runId}?step=${encodeURIComponent(step)}${isDetail(step) ? '&tab=details' : ''}`,
        );
        await expect.poll(() => textOf(page), { timeout: 10_000 }).toMatch(trace);
      }
      await page.goto(`${daemon.url}/runs/${runId}?step=matrix`);
      await expect.poll(() => textOf(page)).toMatch(/22,debian/);
      expect(await textOf(page)).not.toMatch(secrets);
    });
  });
});

/** Whether the trace is in the details of the step, and not in its output. */
function isDetail(step: string): boolean {
  return ['skipped', 'server', 'approve'].includes(step);
}

function textOf(page: Page): Promise<string> {
  // biome-ignore lint/performance/useDomNodeTextContent: only text that is seen counts
  return page.locator('main').innerText();
}
