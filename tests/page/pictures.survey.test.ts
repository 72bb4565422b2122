import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { browserPath } from '../support/browser.ts';
import { describeWith } from '../support/require.ts';
import { withPage } from './visits.ts';

const docs = join(import.meta.dirname, '../../docs');
const guide = readFileSync(join(docs, 'guide/web-page.md'), 'utf8');

/** Pictures are part of what people download. */
const MAX_PICTURE_BYTES = 150_000;

const files = {
  'nightly-etl.yaml': `
description: loads the orders of yesterday into the warehouse
tags: [daily, etl]
schedule: "0 2 * * *"
params: { DAY: "2026-03-01", MODE: full }
steps:
  - name: extract
    command: sh -c 'sleep 0.4; echo 5000 rows of $DAY'
  - name: check source
    command: sleep 0.2
  - name: transform
    command: sleep 0.5
    depends: extract
  - name: load
    command: sh -c 'sleep 0.3; echo connection refused by warehouse:5432 >&2; exit 3'
    depends: [transform, check source]
    retryPolicy: { limit: 2, intervalSec: 0.2 }
  - name: index
    command: sleep 0.6
    depends: transform
  - name: report
    command: echo done
    depends: [load, index]
`,
  'ops/backup.yaml': `
description: nightly dump of all stores
tags: [daily]
schedule: "30 3 * * *"
steps:
  - name: dump
    command: sleep 0.1
  - name: upload
    command: sleep 0.1
    depends: dump
`,
  'report.yaml': 'description: weekly figures\nsteps:\n  - name: one\n    comand: echo one\n',
};

/** A picture of a page as it is; with `WF_UPDATE_GOLDENS=1` it replaces the one in the guide. */
async function picture(page: Page, name: string): Promise<void> {
  const bytes = await page.screenshot();
  expect(bytes.length).toBeLessThan(MAX_PICTURE_BYTES);
  if (process.env['WF_UPDATE_GOLDENS'] !== '1') return;
  mkdirSync(join(docs, 'images'), { recursive: true });
  writeFileSync(join(docs, 'images', name), bytes);
}

describeWith('chromium', browserPath !== null, 'the pictures of the guide to the web page', () => {
  it('show the list of workflows and a failed run', async () => {
    await withPage(files, async ({ open, start }) => {
      const options = { viewport: { width: 1120, height: 760 }, colorScheme: 'light' } as const;
      const runIds = [await start('backup'), await start('nightly-etl')];
      const run = await open(`/runs/${runIds[1]}`, options);
      await run.getByText('Failed after').waitFor();
      await run.getByRole('region', { name: 'Last lines of load' }).waitFor();
      await run.getByRole('link', { name: /^report: / }).waitFor();
      await run.locator('.step-pane .log-line').first().waitFor();
      await picture(run, 'web-page-run.png');
      const list = await open('/', options);
      await list.getByText('failed').first().waitFor();
      await list.locator('.frame mark').waitFor();
      await picture(list, 'web-page-workflows.png');
    });
  });

  it('are small, and each is in the guide', () => {
    const pictures = [...guide.matchAll(/\]\(\.\.\/images\/([\w-]+\.png)\)/g)].map(([, name]) => name ?? '');

    expect(pictures.toSorted()).toEqual(['web-page-run.png', 'web-page-workflows.png']);
    for (const name of pictures) {
      expect(statSync(join(docs, 'images', name)).size).toBeLessThan(MAX_PICTURE_BYTES);
    }
  });
});
