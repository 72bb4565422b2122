import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, expect } from 'vitest';
import { launchBrowser, visit } from '../support/browser.ts';
import { type Daemon, type DaemonPlace, withDaemons } from '../support/daemon.ts';

/** The browser shared by the tests of a file, because its start is slow. Each test has its own windows. */
let started: Promise<Browser> | undefined;
afterAll(async () => (await started)?.close());

/** A page of a daemon in a browser. */
export type Journey = {
  readonly daemon: Daemon;
  /** The browser of all windows. */
  readonly browser: Browser;
  /** Opens a path of the daemon in a window of its own; `prepare` is called before. */
  readonly open: (
    path: string,
    options?: BrowserContextOptions,
    prepare?: (page: Page) => Promise<void>,
  ) => Promise<Page>;
  /** Starts a workflow; returns the id of the run. */
  readonly start: (workflow: string) => Promise<string>;
  /** Asks for a run to be stopped. */
  readonly stop: (runId: string) => Promise<void>;
  /** Writes a file beside the workflows. */
  readonly write: (name: string, text: string) => void;
  /** Starts another daemon with the same files. */
  readonly serve: DaemonPlace['serve'];
  /** Reads a file beside the workflows. */
  readonly read: (name: string) => string;
};

/** How the daemon is started, and which console messages and other addresses are allowed. */
type PageOptions = {
  readonly options?: readonly string[];
  readonly expected?: readonly RegExp[];
  readonly outside?: readonly string[];
};

/**
 * Serves these workflow files and uses the page in a browser. Afterwards no window may have printed anything in its console,
 * broken the Content-Security-Policy, or asked for anything outside of the daemon.
 */
export function withPage<T>(
  files: Readonly<Record<string, string>>,
  use: (journey: Journey) => Promise<T>,
  { options = [], expected = [], outside: others = [] }: PageOptions = {},
): Promise<T> {
  return withDaemons(files, async ({ serve, write, cwd }) => {
    const daemon = await serve(...options);
    started ??= launchBrowser();
    const browser = await started;
    const visits: Awaited<ReturnType<typeof visit>>[] = [];
    try {
      const open: Journey['open'] = async (path, context = {}, prepare = undefined) => {
        const size = { viewport: { width: 1280, height: 800 } };
        const opened = await visit(browser, daemon.url + path, { ...size, ...context }, prepare);
        visits.push(opened);
        return opened.page;
      };
      const result = await use({
        daemon,
        browser,
        open,
        write,
        serve,
        read: (name) => readFileSync(join(cwd, name), 'utf8'),
        start: (workflow) => startRun(daemon, workflow),
        stop: (runId) => stopRun(daemon, runId),
      });
      const isUnexpected = (message: string) => !expected.some((pattern) => pattern.test(message));
      const messages = visits.flatMap((each) => each.messages).filter(isUnexpected);
      const isOutside = (url: string) => ![daemon.url, ...others].some((own) => url.startsWith(own));
      const outside = visits.flatMap(({ requests }) => requests.filter(isOutside));
      expect({ messages, outside }).toEqual({ messages: [], outside: [] });
      return result;
    } finally {
      for (const { page } of visits) await page.context().close();
    }
  });
}

async function startRun({ url }: Daemon, workflow: string): Promise<string> {
  const answer = await fetch(`${url}/api/v2/workflows/${workflow}/runs`, { method: 'POST' });
  const { runId } = (await answer.json()) as { runId: string };
  return runId;
}

async function stopRun({ url }: Daemon, runId: string): Promise<void> {
  await fetch(`${url}/api/v2/runs/${runId}/stop`, { method: 'POST' });
}

/** Ends the session of a window as if it had expired, without informing the window. */
export async function expireSession(page: Page, { daemon }: Journey): Promise<void> {
  const [cookie] = await page.context().cookies();
  const headers = { Cookie: `${cookie?.name}=${cookie?.value}`, Origin: daemon.url };
  const { csrf } = (await (await fetch(`${daemon.url}/api/v2/session`, { headers })).json()) as { csrf: string };
  const ended = await fetch(`${daemon.url}/api/v2/session`, {
    method: 'DELETE',
    headers: { ...headers, 'X-WF-CSRF': csrf },
  });
  expect(ended.status).toBe(204);
}

/**
 * Rules of accessibility that the page breaks as it is, with the elements that do: all of them in light colours, and what
 * depends on colours also in dark ones and in high contrast.
 */
export async function accessibilityProblems(page: Page): Promise<readonly string[]> {
  // Evaluated by the debugger, which the Content-Security-Policy does not concern.
  await page.evaluate(axe.source);
  const found: string[] = [];
  for (const look of ['light', 'dark', 'contrast'] as const) {
    await page.emulateMedia(
      look === 'contrast' ? { contrast: 'more', colorScheme: 'light' } : { contrast: null, colorScheme: look },
    );
    const rules = look === 'light' ? {} : { runOnly: ['color-contrast'] };
    const problems = await page.evaluate(
      `axe.run(${JSON.stringify(rules)}).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`,
    );
    found.push(...(problems as string[]).map((problem) => `${look}: ${problem}`));
  }
  return found;
}
