import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { browserPath } from '../support/browser.ts';
import { describeWith } from '../support/require.ts';
import { withPage } from './visits.ts';

const docs = join(import.meta.dirname, '../../docs');
const guide = readFileSync(join(docs, 'guide/web-page.md'), 'utf8');

/** Pictures are part of the download. */
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
  'typed.yaml': `
name: deploy
description: builds and deploys the shop
tags: [release]
params:
  - {name: STAGE, enum: [staging, production], required: true, description: Where to deploy}
  - {name: WORKERS, type: integer, default: 4, maximum: 16}
  - {name: API_KEY, secret: true}
steps:
  - name: deploy
    command: echo "$STAGE"
`,
  'long-log.yaml': `
description: imports the orders of all shops
steps:
  - name: import
    command: sh -c 'for i in $(seq 1 400); do if [ $((i % 60)) = 7 ]; then printf "\\033[31mconnection refused\\033[0m by shop $i, next try in 1 s\\n"; else printf "\\033[32mok\\033[0m   order $((i * 37)) of shop $i\\n"; fi; done'
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
      await run.emulateMedia({ colorScheme: 'dark' });
      await picture(run, 'web-page-dark.png');
      const narrow = { viewport: { width: 390, height: 760 }, colorScheme: 'light' } as const;
      const phone = await open(`/runs/${runIds[1]}?step=load`, { ...narrow, isMobile: true, hasTouch: true });
      await phone.locator('.step-pane .log-line').first().waitFor();
      await phone.locator('.pane-tabs').evaluate((tabs) => scrollBy(0, tabs.getBoundingClientRect().top - 56));
      await picture(phone, 'web-page-phone.png');
      const list = await open('/', options);
      await list.getByText('failed').first().waitFor();
      await list.locator('.frame mark').waitFor();
      await picture(list, 'web-page-workflows.png');
    });
  });

  it('show the form, the editor, a log and the runs', async () => {
    await withPage(files, async ({ open, start }) => {
      const options = { viewport: { width: 1120, height: 600 }, colorScheme: 'light' } as const;
      const runIds = [await start('backup'), await start('long-log'), await start('nightly-etl')];
      const form = await open('/w/typed.yaml/start', options);
      await form.getByLabel('STAGE').waitFor();
      await picture(form, 'web-page-start.png');

      const editor = await open('/w/report.yaml?tab=spec&edit=1', options);
      await editor.locator('.cm-content').click();
      await editor.getByRole('button', { name: /unknown key/ }).waitFor();
      await editor.locator('.cm-line', { hasText: 'comand' }).click();
      await editor.keyboard.press('End');
      await editor.keyboard.type('\nre');
      await editor.locator('.cm-tooltip-autocomplete').waitFor();
      await picture(editor, 'web-page-editor.png');

      const log = await open(`/runs/${runIds[1]}`, options);
      await log.getByRole('searchbox', { name: 'Find in the log' }).fill('refused');
      await log.keyboard.press('Enter');
      await log.locator('.hit-marks, .log mark').first().waitFor();
      await log.locator('.step-pane').evaluate((pane) => pane.scrollIntoView());
      await picture(log, 'web-page-log.png');

      const runs = await open('/runs', options);
      await runs.locator('.row').nth(2).waitFor();
      await runs.locator('.row').getByText('step "load" failed').waitFor();
      await picture(runs, 'web-page-runs.png');
    });
  });

  it('show the login', async () => {
    const options = ['--username', 'anna', '--password-file', 'password.txt'];
    await withPage(
      { ...files, 'password.txt': 'open sesame' },
      async ({ open }) => {
        const page = await open('/', { viewport: { width: 800, height: 480 }, colorScheme: 'light' });
        await page.getByLabel('Name').fill('anna');
        await picture(page, 'web-page-login.png');
      },
      { options, expected: [/status of 401/] },
    );
  });

  it('are small and used in the guide', () => {
    const pictures = [...guide.matchAll(/\]\(\.\.\/images\/([\w-]+\.png)\)/g)].map(([, name]) => name ?? '');

    expect(pictures.toSorted()).toEqual([
      'web-page-dark.png',
      'web-page-editor.png',
      'web-page-log.png',
      'web-page-login.png',
      'web-page-phone.png',
      'web-page-run.png',
      'web-page-runs.png',
      'web-page-start.png',
      'web-page-workflows.png',
    ]);
    for (const name of pictures) {
      expect(statSync(join(docs, 'images', name)).size).toBeLessThan(MAX_PICTURE_BYTES);
    }
  });
});
