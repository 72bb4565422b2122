import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { browserPath } from '../../support/browser.ts';
import { describeWith } from '../../support/require.ts';
import { type Journey, withPage } from '../visits.ts';
import { differenceOf } from './compare-pictures.ts';
import { deployRun, failedRun, files, now, storeRuns } from './prepared-home.ts';

/** The major version of Chromium that drew the pictures. Another one draws other pixels, so nothing is compared. */
const versionFile = join(import.meta.dirname, 'pictures/chromium.txt');
const chromium = readFileSync(versionFile, 'utf8').trim();
/** All stored pictures together. */
const MAX_BYTES = 2_000_000;

const widths = { wide: { width: 1280, height: 800 }, phone: { width: 390, height: 800 } } as const;
const looks = {
  light: { colorScheme: 'light', contrast: null },
  dark: { colorScheme: 'dark', contrast: null },
  contrast: { colorScheme: 'light', contrast: 'more' },
} as const;

/** A screen: its address, and what is visible once it is complete. */
type Screen = { readonly path: string; readonly ready: (page: Page) => Promise<unknown> };

const text = (words: string) => (page: Page) => page.getByText(words).first().waitFor();
/** On a phone the log is behind a tab. */
const logLines = (page: Page) => page.locator('.step-pane .log-line').first().waitFor({ state: 'attached' });

const screens: Readonly<Record<string, Screen>> = {
  workflows: {
    path: '/',
    ready: async (page) => {
      await page.locator('.frame mark').waitFor();
      await expect.poll(() => page.locator('.row.workflow .ticks').count()).toBe(3);
    },
  },
  overview: {
    path: '/w/nightly-etl.yaml',
    ready: (page) => page.locator('.graph [data-step], .graph rect').nth(3).waitFor(),
  },
  history: {
    path: '/w/nightly-etl.yaml?tab=history',
    ready: (page) => page.locator('.grid a, table a').nth(20).waitFor(),
  },
  spec: { path: '/w/nightly-etl.yaml?tab=spec', ready: text('psql -f load.sql') },
  broken: { path: '/w/report.yaml', ready: (page) => page.locator('.frame mark').first().waitFor() },
  start: { path: '/w/typed.yaml/start', ready: (page) => page.getByLabel('STAGE').waitFor() },
  runs: { path: '/runs', ready: (page) => page.locator('.run-row').nth(8).waitFor() },
  graph: { path: `/runs/${failedRun}`, ready: logLines },
  timeline: { path: `/runs/${failedRun}?view=timeline`, ready: logLines },
  approvals: { path: `/runs/${deployRun}?view=timeline&step=announce&tab=details`, ready: text('approved by anna') },
  steps: { path: `/runs/${failedRun}?view=steps&step=load&tab=details`, ready: text('connection refused') },
  source: { path: `/runs/${failedRun}?step=load&tab=source`, ready: text('psql -f load.sql') },
  system: { path: '/system', ready: (page) => page.getByRole('heading', { name: 'Settings' }).waitFor() },
  missing: { path: '/runs/none', ready: text('none') },
};

describeWith('chromium', browserPath !== null, 'the appearance of the page', () => {
  it('is that of the stored pictures', { timeout: 120_000 }, async ({ skip }) => {
    await withPreparedPage(async (journey, directory) => {
      const version = journey.browser.version();
      const [major = ''] = version.split('.');
      if (process.env['WF_UPDATE_GOLDENS'] === '1') writeFileSync(versionFile, `${major}\n`);
      else skip(major !== chromium, `the pictures are of Chromium ${chromium}, this is ${version}`);
      const blank = await journey.browser.newPage();
      const differences: string[] = [];
      // The widths in parallel, since a page mostly waits for the daemon or for its own drawing.
      const lookAtAll = async ([size, viewport]: [string, Seen['viewport']]) => {
        for (const [name, screen] of Object.entries(screens))
          differences.push(...(await lookAt(journey, screen, { name: `${name}-${size}`, viewport, blank, directory })));
      };
      await Promise.all(Object.entries(widths).map(lookAtAll));
      await blank.close();
      expect(differences).toEqual([]);
    });
  });

  it('is stored in small pictures of screens that exist', () => {
    const directory = join(import.meta.dirname, 'pictures');
    const names = readdirSync(directory).filter((name) => name.endsWith('.png'));
    const expected = Object.keys(screens).flatMap((screen) =>
      Object.keys(widths).flatMap((size) => Object.keys(looks).map((look) => `${screen}-${size}-${look}.png`)),
    );
    expect(names.toSorted()).toEqual(expected.toSorted());
    const bytes = names.reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
    expect(bytes).toBeLessThan(MAX_BYTES);
  });
});

/** Serves the prepared workflows with their runs. */
function withPreparedPage(use: (journey: Journey, directory: string) => Promise<void>): Promise<void> {
  const serve = async (journey: Journey) => {
    const { workflows } = JSON.parse(await journey.daemon.get('/api/v2/workflows'));
    const directory = dirname(workflows.find(({ id }: { id: string }) => id === 'typed.yaml').file);
    await storeRuns(join(directory, 'home/runs'), directory);
    await use(journey, directory);
  };
  return withPage(files, serve, { expected: [/status of 404/] });
}

type Seen = {
  readonly name: string;
  readonly viewport: { readonly width: number; readonly height: number };
  readonly blank: Page;
  /** The directory of the workflows. */
  readonly directory: string;
};

/** Draws a screen in each theme; returns the differences from the stored pictures. */
async function lookAt(
  { open }: Journey,
  { path, ready }: Screen,
  { name, viewport, blank, directory }: Seen,
): Promise<readonly string[]> {
  const options: BrowserContextOptions = {
    viewport,
    locale: 'en-GB',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
    ...(viewport.width < 600 ? { isMobile: true, hasTouch: true } : {}),
  };
  const page = await open(path, options, (next) => next.clock.setFixedTime(now));
  await ready(page);
  await page.evaluate(hideWhatVaries, directory);
  const found: (string | null)[] = [];
  for (const [look, media] of Object.entries(looks)) {
    await page.emulateMedia(media);
    found.push(await lookOnceOrLonger(page, `${name}-${look}`, blank));
  }
  await page.context().close();
  return found.filter((difference) => difference !== null);
}

/** The difference from a stored picture: most pages are complete at the first look, others are given time. */
async function lookOnceOrLonger(page: Page, name: string, blank: Page): Promise<string | null> {
  const isCompared = process.env['WF_UPDATE_GOLDENS'] !== '1';
  if (isCompared && (await differenceOf(await picture(page), name, blank)) === null) return null;
  return differenceOf(await stillPicture(page), name, blank);
}

function picture(page: Page): Promise<Buffer> {
  return page.screenshot({ animations: 'disabled', caret: 'hide' });
}

/** A picture that has stopped changing. */
async function stillPicture(page: Page): Promise<Buffer> {
  let last: Buffer = Buffer.alloc(0);
  for (let look = 0; look < 50; look++) {
    const next = await picture(page);
    if (next.equals(last)) return next;
    last = next;
    await page.waitForTimeout(100);
  }
  throw new Error('the page does not stop changing');
}

/** In the browser: one font, and no text that depends on the machine or the day. */
function hideWhatVaries(directory: string): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(
    `:root { --mono: "DejaVu Sans Mono" !important; }
     body, button, input, select, textarea { font-family: "DejaVu Sans" !important; }`,
  );
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode())
    node.nodeValue = (node.nodeValue ?? '')
      .replaceAll(directory, '/srv/wf/dags')
      .replaceAll(location.origin, 'http://localhost:8080');
  if (location.pathname !== '/system') return;
  for (const cell of document.querySelectorAll('.facts-list dd, .settings td')) cell.textContent = '…';
}
