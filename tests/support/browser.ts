import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

/** The browser of this machine; null when it has none. Chromium without its windows takes two thirds of the time of tests. */
export const browserPath: string | null = findBrowser([
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
]);

/** A page with what it has done since it was opened. */
export type Visit = {
  readonly page: Page;
  /** Addresses that were asked for, the page itself first. */
  readonly requests: readonly string[];
  /** Console messages and uncaught errors. */
  readonly messages: readonly string[];
};

/** A name of this machine that browsers do not trust over plain HTTP, unlike `localhost`. */
export const plainHost = 'wf.test';

/** Starts the browser; the caller closes it. */
export function launchBrowser(): Promise<Browser> {
  const isRoot = process.getuid?.() === 0;
  // The same pixels on every machine.
  const drawing = ['--disable-lcd-text', '--font-render-hinting=none', '--force-color-profile=srgb', '--disable-gpu'];
  const args = [`--host-resolver-rules=MAP ${plainHost} 127.0.0.1`, ...drawing, ...(isRoot ? ['--no-sandbox'] : [])];
  return chromium.launch({ executablePath: browserPath ?? '', args });
}

/** Opens an address in a window of its own, which is closed with the browser; `prepare` is called before. */
export async function visit(
  browser: Browser,
  address: string,
  options: BrowserContextOptions,
  prepare: (page: Page) => Promise<void> = async () => {},
): Promise<Visit> {
  const page = await browser.newPage(options);
  const requests: string[] = [];
  const messages: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('console', (message) => messages.push(message.text()));
  page.on('pageerror', (error) => messages.push(String(error)));
  await prepare(page);
  await page.goto(address);
  return { page, requests, messages };
}

function findBrowser(names: readonly string[]): string | null {
  const directories = (process.env['PATH'] ?? '').split(delimiter);
  const paths = names.flatMap((name) => directories.map((directory) => join(directory, name)));
  return paths.find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
