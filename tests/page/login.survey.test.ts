import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { browserPath } from '../support/browser.ts';
import { httpServer } from '../support/http-server.ts';
import { describeWith } from '../support/require.ts';
import { accessibilityProblems, expireSession, type Journey, withPage } from './visits.ts';

const files = {
  'hello.yaml':
    'schedule: "0 2 * * *"\nparams: { NAME: world }\nsteps:\n  - name: greet\n    command: echo hello $NAME\n',
  'write.txt': 'a-token-to-write',
  'look.txt': 'look-only-token',
  'password.txt': 'open sesame',
};
const tokens = ['--token-file', 'write.txt', '--read-only-token-file', 'look.txt'];
const password = ['--username', 'anna', '--password-file', 'password.txt'];
const refused = { expected: [/status of 401/] };
const bearer = { Authorization: 'Bearer a-token-to-write' };

async function logIn(page: Page, secret: string, name?: string): Promise<void> {
  if (name !== undefined) await page.getByLabel('Name').fill(name);
  await page.locator('input[type=password]').fill(secret);
  await page.getByRole('button', { name: 'Log in' }).click();
}

async function runsOf({ daemon }: Journey): Promise<readonly { readonly params: unknown }[]> {
  const answer = await fetch(`${daemon.url}/api/v2/runs`, { headers: bearer });
  return ((await answer.json()) as { runs: { params: unknown }[] }).runs;
}

/** Another tab of the same browser. */
async function tabOf(page: Page, address: string): Promise<Page> {
  const [tab] = await Promise.all([page.waitForEvent('popup'), page.evaluate(`void open(${JSON.stringify(address)})`)]);
  return tab;
}

describeWith('chromium', browserPath !== null, 'the login of the page', () => {
  it('opens by the printed link, and keeps no token in the history or in readable cookies', async () => {
    await withPage(
      files,
      async ({ daemon, open }) => {
        const [, command = ''] = /at the address that this prints: (.*)\n/.exec(daemon.process.printed()) ?? [];
        const link = (await promisify(execFile)('sh', ['-c', command])).stdout.trim();
        const { pathname, search, hash, origin } = new URL(link);
        expect([origin, hash]).toEqual([daemon.url, expect.stringMatching(/^#token=[\w-]{43}$/)]);
        const page = await open(pathname + search + hash);

        await page.locator('.row').waitFor();
        expect(page.url()).toBe(`${daemon.url}/`);
        expect(await page.evaluate('history.length')).toBe(await page.evaluate('1 + 1'));
        expect(await page.evaluate('document.cookie')).toBe('');
        const [cookie] = await page.context().cookies();
        expect(cookie).toMatchObject({
          name: 'wf_session',
          httpOnly: true,
          sameSite: 'Strict',
          secure: false,
          path: '/',
        });
        await page.getByRole('switch', { name: 'Schedule of hello' }).click();
        await page.getByText('suspended').waitFor();

        await page.evaluate("location.hash = 'token=wrong'");
        await page.waitForFunction("location.hash === ''");
        expect(await page.locator('.row').count()).toBe(1);
      },
      { options: ['--require-login'], ...refused },
    );
  });

  it('asks for name and password, reports why it failed, and shows the requested screen', async () => {
    await withPage(
      files,
      async ({ open }) => {
        const page = await open('/w/hello/start?p.NAME=Ann');
        await page.getByRole('heading', { name: 'Log in' }).waitFor();
        expect(await page.getByRole('navigation').count()).toBe(0);
        expect(await accessibilityProblems(page)).toEqual([]);
        await logIn(page, 'open barley', 'anna');
        await page.getByRole('alert').getByText('The login is wrong.').waitFor();
        expect(await accessibilityProblems(page)).toEqual([]);
        await logIn(page, 'open sesame', 'anna');

        await page.getByRole('heading', { name: 'Start hello' }).waitFor();
        expect(await page.getByLabel('NAME', { exact: true }).inputValue()).toBe('Ann');
        expect(await page.locator('.user').textContent()).toBe('anna');
        expect(await accessibilityProblems(page)).toEqual([]);
        await page.goto(page.url().replace(/w\/.*/, 'login'));
        await page.locator('.row').waitFor();
        expect(new URL(page.url()).pathname).toBe('/');
      },
      { options: password, ...refused },
    );
  });

  it('links to the pages of the daemon itself', async () => {
    await withPage(
      files,
      async ({ open }) => {
        const page = await open('/api/docs');
        await logIn(page, 'a-token-to-write');
        await page.getByRole('heading', { name: 'POST /api/v2/session' }).waitFor();
        await page.goto(page.url().replace('/api/docs', '/nothing'));
        await page.getByRole('heading', { name: 'Not found' }).waitFor();
      },
      { options: tokens, expected: [/status of 40[14]/] },
    );
  });

  it('returns to an unsaved form after the session has ended', async () => {
    await withPage(
      files,
      async (journey) => {
        const page = await journey.open('/w/hello/start');
        await logIn(page, 'a-token-to-write');
        await page.getByLabel('NAME', { exact: true }).fill('a long text');
        await expireSession(page, journey);

        await page.getByRole('heading', { name: 'The session has ended' }).waitFor();
        expect(await accessibilityProblems(page)).toEqual([]);
        // A browser lets a page refuse the first of several only.
        for (let press = 0; press < 3; press++) await page.keyboard.press('Escape');
        await logIn(page, 'a-token-to-wrte');
        await page.getByRole('dialog').getByText('The login is wrong.').waitFor();
        await logIn(page, 'a-token-to-write');
        await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
        expect(await page.getByLabel('NAME', { exact: true }).inputValue()).toBe('a long text');
        expect(await runsOf(journey)).toEqual([]);
        await page.getByRole('button', { name: 'Start', exact: true }).click();
        await page.locator('.run-header').waitFor();
        expect(await runsOf(journey)).toMatchObject([{ params: [{ name: 'NAME', value: 'a long text' }] }]);
      },
      { options: tokens, ...refused },
    );
  });

  it('is required again as soon as a session ends, and then the list is updated', async () => {
    await withPage(
      files,
      async (journey) => {
        const page = await journey.open('/');
        await logIn(page, 'a-token-to-write');
        await page.getByText('never run').waitFor();
        await expireSession(page, journey);

        await page.getByRole('heading', { name: 'The session has ended' }).waitFor();
        await fetch(`${journey.daemon.url}/api/v2/workflows/hello/runs`, { method: 'POST', headers: bearer });
        await logIn(page, 'a-token-to-write');
        await page.getByRole('group', { name: 'last run: 1 succeeded' }).waitFor();
      },
      { options: tokens, ...refused },
    );
  });

  it('ends in every tab at a logout', async () => {
    await withPage(
      files,
      async ({ daemon, open }) => {
        const page = await open('/');
        await logIn(page, 'a-token-to-write');
        await page.locator('.row').waitFor();
        const tab = await tabOf(page, '/system');
        await tab.getByRole('heading', { name: 'Queue' }).waitFor();
        await page.getByRole('button', { name: 'Log out' }).click();

        for (const each of [page, tab]) await each.getByRole('heading', { name: 'Log in' }).waitFor();
        expect([page.url(), tab.url()]).toEqual([`${daemon.url}/login`, `${daemon.url}/system`]);
        expect(await page.context().cookies()).toEqual([]);
        await logIn(tab, 'look-only-token');
        await page.locator('.row').waitFor();
        for (const each of [page, tab]) await each.getByText('read-only', { exact: true }).waitFor();
      },
      { options: tokens, ...refused },
    );
  });

  it('remains valid after a restart of the daemon', async () => {
    await withPage(
      files,
      async ({ daemon, open, serve }) => {
        const page = await open('/');
        await logIn(page, 'a-token-to-write');
        await page.locator('.row').waitFor();
        await daemon.end('SIGTERM');
        await page.getByText('Offline, shown as of').waitFor();
        await serve('--port', new URL(daemon.url).port, ...tokens);

        await expect.poll(() => page.getByText('Offline, shown as of').count(), { timeout: 20_000 }).toBe(0);
        await page.getByRole('switch', { name: 'Schedule of hello' }).click();
        await page.getByText('suspended').waitFor();
      },
      { options: tokens, expected: [/net::ERR/] },
    );
  });

  it('does not let other pages use the cookie for a change', async () => {
    const evil = await httpServer((_, response) => {
      response
        .writeHead(200, { 'Content-Type': 'text/html' })
        .end('<!doctype html><title>evil</title><form method=post>');
    });
    await withPage(
      files,
      async (journey) => {
        const { daemon, open } = journey;
        const page = await open('/');
        await logIn(page, 'a-token-to-write');
        await page.locator('.row').waitFor();
        const start = `${daemon.url}/api/v2/workflows/hello/runs`;
        const without = await page.evaluate(
          `fetch(${JSON.stringify(start)}, { method: 'POST' }).then((a) => a.status)`,
        );
        const v1 = `fetch('/api/v1/dags/hello', { method: 'POST', body: new URLSearchParams({ action: 'start' }) })`;
        expect([without, await page.evaluate(`${v1}.then((answer) => answer.status)`)]).toEqual([403, 403]);

        // Another port is another origin of the same site, so the browser sends the cookie.
        await page.goto(evil.url);
        await page.evaluate(
          `fetch(${JSON.stringify(start)}, { method: 'POST', mode: 'no-cors', credentials: 'include' }).catch(String)`,
        );
        const submitted = page.waitForResponse(start);
        await page.evaluate(`document.forms[0].action = ${JSON.stringify(start)}; document.forms[0].submit()`);
        expect((await (await submitted).request().allHeaders())['cookie']).toMatch(/^wf_session=/);
        expect((await submitted).status()).toBe(403);
        expect(await runsOf(journey)).toEqual([]);
      },
      {
        options: tokens,
        expected: [/status of 40[13]/, /ERR_BLOCKED_BY_RESPONSE/],
        outside: [new URL(evil.url).origin],
      },
    );
  });

  it('with a read-only token shows everything, and no control', async () => {
    await withPage(
      files,
      async ({ daemon, open }) => {
        const answer = await fetch(`${daemon.url}/api/v2/workflows/hello/runs`, { method: 'POST', headers: bearer });
        const { runId } = (await answer.json()) as { runId: string };
        const texts = async (secret: string) => {
          const page = await open('/');
          await logIn(page, secret);
          // A navigation before the answer would end the request.
          await page.locator('.row').first().waitFor();
          const shown: string[] = [];
          const controls: string[] = [];
          for (const [path, mark] of screens(runId)) {
            await page.goto(`${daemon.url}${path}`);
            await page.locator(mark).first().waitFor();
            await expect.poll(() => page.locator('.loading').count()).toBe(0);
            shown.push(...(await page.locator('h1, .row .name, .facts-list dt').allTextContents()));
            controls.push(...(await page.locator('main :is(.button, button[role=switch], .danger)').allTextContents()));
            if (secret === 'look-only-token') expect([path, await accessibilityProblems(page)]).toEqual([path, []]);
          }
          return { shown, controls, isMarked: (await page.locator('header .read-only').count()) === 1 };
        };

        const writing = await texts('a-token-to-write');
        const reading = await texts('look-only-token');
        expect(reading.shown).toEqual(writing.shown);
        expect([writing.isMarked, reading.isMarked]).toEqual([false, true]);
        expect(writing.controls.length).toBeGreaterThan(2);
        expect(reading.controls).toEqual([]);
        const page = await open('/w/hello/start');
        await logIn(page, 'look-only-token');
        await page.getByText('This login is read-only').waitFor();
        expect(await page.locator('main').getByRole('button').count()).toBe(0);
      },
      { options: tokens, expected: [] },
    );
  });
});

/** Every screen with a text that it shows. */
function screens(runId: string): readonly (readonly [path: string, mark: string])[] {
  return [
    ['/', '.row'],
    ['/runs', '.row'],
    [`/runs/${runId}`, '.run-header'],
    ['/w/hello', '.heading'],
    ['/system', '.settings'],
  ];
}
