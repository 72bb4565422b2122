import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { browserPath } from '../support/browser.ts';
import { describeWith } from '../support/require.ts';
import { accessibilityProblems, withPage } from './visits.ts';

/** Waits for a file of that name next to the workflow, which the test creates. */
const gate = (name: string) => `while ! test -e ${name}; do sleep 0.05; done`;

const files = {
  'gated.yaml': `
params: { NAME: nobody }
steps:
  - name: first
    command: sh -c 'printf "\\033[31mhello\\033[0m %s\\n" "$NAME"; ${gate('go')}; echo done'
  - name: second
    command: echo second
    depends: first
`,
  'timed.yaml': `steps: [{name: a, command: "test ! -e hold || { ${gate('end')}; }"}]\n`,
  'stubborn.yaml': `
handlerOn: { exit: { command: touch handled } }
steps:
  - name: deaf
    script: trap '' TERM; echo up; while :; do sleep 0.05; done
  - name: polite
    command: sh -c 'echo here; exec sleep 60'
`,
  'failing.yaml': `
steps:
  - name: fetch
    command: echo fetched
  - name: load
    command: sh -c 'echo loading; echo connection refused >&2; test -e fixed'
    depends: fetch
    retryPolicy: { limit: 1, intervalSec: 0.1 }
  - name: report
    command: echo reported
    depends: load
`,
};

const focused = (page: Page) => page.evaluate('document.activeElement.textContent');
const header = (page: Page) => page.locator('.run-header');

describeWith('chromium', browserPath !== null, 'a run in a browser', () => {
  it('shows while it runs how long its workflow usually takes', async () => {
    await withPage(files, async ({ open, start, write }) => {
      const first = await open(`/runs/${await start('timed')}`);
      await header(first).getByText('Succeeded after').waitFor();
      write('hold', '');
      const page = await open(`/runs/${await start('timed')}`);
      await header(page)
        .getByText(/^Running for \d+s of ~\d\.\ds$/)
        .waitFor();
      write('end', '');
      await header(page)
        .getByText(/^Succeeded after \S+$/)
        .waitFor();
    });
  });

  it('is started with a parameter, followed live, and shows the output of its steps', async () => {
    await withPage(files, async ({ open, write }) => {
      const page = await open('/');
      await page.getByRole('link', { name: 'Start gated' }).click();
      await page.getByRole('dialog').getByLabel('NAME', { exact: true }).fill('Ann & "Bob" $(id)');
      expect(await page.locator('.command').textContent()).toBe(`wf run gated.yaml -- 'NAME=Ann & "Bob" $(id)'`);
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.getByRole('button', { name: 'Start' }).click();

      await page.locator('.log-line', { hasText: 'hello Ann & "Bob" $(id)' }).waitFor();
      expect(await page.locator('.log-line .fg1').textContent()).toBe('hello');
      await header(page).getByText('Running for').waitFor();
      expect(await accessibilityProblems(page)).toEqual([]);
      write('go', '');

      await header(page).getByText('Succeeded after').waitFor();
      await page.getByRole('region', { name: 'output of second, attempt 1' }).getByText('second').waitFor();
      await page.getByRole('link', { name: 'first: succeeded' }).click();
      await page.locator('.log-line', { hasText: 'done' }).waitFor();
      expect(new URL(page.url()).searchParams.get('step')).toBe('first');
      expect(await page.title()).toMatch(/^✔ gated /);
    });
  });

  it('is shown and followed after a first request that the daemon could not answer', async () => {
    const body = { status: 503, contentType: 'application/problem+json', body: '{"detail":"no memory is left"}' };
    await withPage(
      files,
      async ({ open, start, write }) => {
        const runId = await start('gated');
        const refuseOnce = async (page: Page) => {
          await page.route(/\/view$/, (route) => route.fulfill(body), { times: 1 });
        };
        const page = await open(`/runs/${runId}`, {}, refuseOnce);
        await page.getByText('No memory is left.').waitFor();
        await header(page).getByText('Running for').waitFor();
        write('go', '');
        await header(page).getByText('Succeeded after').waitFor();
      },
      { expected: [/status of 503/] },
    );
  });

  it('is followed if it exists when the user retries', async () => {
    await withPage(
      files,
      async ({ open, daemon, write }) => {
        const page = await open('/runs/later');
        await page.getByRole('heading', { level: 1, name: 'Run not found' }).waitFor();
        expect(await accessibilityProblems(page)).toEqual([]);
        await daemon.act('gated', { action: 'start', requestId: 'later' });
        await page.getByRole('button', { name: 'Try again' }).click();
        await header(page).getByText('Running for').waitFor();
        write('go', '');
        await header(page).getByText('Succeeded after').waitFor();
      },
      { expected: [/status of 404/] },
    );
  });

  it('that does not exist leads to the nearest name, as a workflow does', async () => {
    await withPage(
      files,
      async ({ open, daemon }) => {
        await daemon.act('failing', { action: 'start', requestId: 'load-1' });
        const page = await open('/runs/load-2');
        await page.getByRole('link', { name: 'load-1' }).click();
        await header(page).getByText('Failed after').waitFor();
        await page.goto(`${daemon.url}/runs/unlike-any`);
        await page.getByRole('link', { name: 'All runs' }).waitFor();
        expect(await page.getByRole('alert').textContent()).not.toMatch(/wf |api/);
        await page.goto(`${daemon.url}/w/gatd/start`);
        await page.getByRole('heading', { level: 1, name: 'Workflow not found' }).waitFor();
        await page.getByRole('link', { name: 'gated' }).click();
        await page.getByRole('heading', { level: 1, name: 'Start gated' }).waitFor();
      },
      { expected: [/status of 404/] },
    );
  });

  it('is started once by a double click', async () => {
    await withPage(files, async ({ open, daemon }) => {
      const page = await open('/w/failing.yaml/start');
      await page.getByRole('button', { name: 'Start' }).dblclick();
      await header(page).getByText('Failed after').waitFor();

      expect(JSON.parse(await daemon.get('/api/v2/runs')).runs.length).toBe(1);
    });
  });

  it('is stopped after a question', async () => {
    await withPage(files, async ({ open, start }) => {
      const page = await open(`/runs/${await start('gated')}`);
      await page.locator('.log-line', { hasText: 'hello' }).waitFor();

      await page.getByRole('button', { name: 'Stop' }).click();
      expect(await page.getByRole('dialog').textContent()).toContain('1 step is running.');
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.getByRole('button', { name: 'Cancel' }).click();
      await expect.poll(() => focused(page)).toBe('Stop');
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor();
      await page.keyboard.press('Escape');
      await expect.poll(() => focused(page)).toBe('Stop');
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor();
      // Keys that come faster than the browser reports that the dialog has closed.
      for (let times = 0; times < 20; times++) {
        await Promise.all([page.keyboard.press('Escape'), page.keyboard.press('Enter')]);
        await page.getByRole('dialog').waitFor();
      }
      await page.getByRole('button', { name: 'Stop the run' }).click();

      await header(page).getByText('Canceled after').waitFor();
      expect(await page.getByRole('link', { name: 'first: canceled' }).count()).toBe(1);
    });
  });

  it('is killed after a second question while it is stopping', async () => {
    await withPage(files, async ({ open, start, daemon }) => {
      const id = await start('stubborn');
      const page = await open(`/runs/${id}?step=deaf`);
      await page.locator('.log-line', { hasText: 'up' }).waitFor();
      await page.getByRole('link', { name: 'polite: running' }).waitFor();

      await page.keyboard.press('.');
      expect(await page.getByRole('dialog').textContent()).toContain('2 steps are running.');
      await page.getByRole('button', { name: 'Stop the run' }).click();
      await page.getByRole('link', { name: 'polite: canceled' }).waitFor();
      await expect.poll(() => focused(page)).toBe('Kill');
      await page.keyboard.press('.');
      await page.getByRole('heading', { name: /^Kill stubborn \S+\?$/ }).waitFor();
      expect(await page.getByRole('dialog').textContent()).toContain('deaf is still running.');
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.getByRole('button', { name: 'Kill the run' }).click();

      await header(page).getByText('Canceled after').waitFor();
      const { steps, handlers } = JSON.parse(await daemon.get(`/api/v2/runs/${id}`));
      expect([steps.map(({ signal }: { signal: string }) => signal), handlers]).toEqual([['SIGKILL', 'SIGTERM'], []]);
    });
  });

  it('shows the failure with the last lines of each attempt, and is retried', async () => {
    await withPage(files, async ({ open, start, write }) => {
      const page = await open(`/runs/${await start('failing')}`);
      await page.getByRole('heading', { name: 'What failed' }).waitFor();

      await page.getByRole('region', { name: 'Last lines of load' }).getByText('connection refused').waitFor();
      expect(await page.locator('.failure-why').textContent()).toBe('exit 1 after 2 attempts');
      await page.getByRole('region', { name: 'output of load, attempt 2' }).waitFor();
      await page.getByRole('button', { name: 'failed 1' }).click();
      await page.getByRole('region', { name: 'output of load, attempt 1' }).getByText('loading').waitFor();
      expect(await accessibilityProblems(page)).toEqual([]);
      for (const view of ['Timeline', 'Steps']) {
        await page.getByRole('button', { name: view }).click();
        expect(await accessibilityProblems(page)).toEqual([]);
      }
      for (const tab of ['Details', 'Source']) {
        await page.getByRole('button', { name: tab }).click();
        expect(await accessibilityProblems(page)).toEqual([]);
      }
      expect(await page.locator('.frame-line.marked').first().textContent()).toContain('name: load');

      write('fixed', '');
      await page.getByRole('button', { name: 'Retry what failed' }).click();
      await header(page).getByText('Succeeded after').waitFor();
      expect(await header(page).textContent()).toContain('retry of');
      await page.keyboard.press('7');
      const rows = page.locator('.compared tbody tr');
      await rows.first().waitFor();
      // The rows are sorted again when the last states of the run arrive.
      await expect.poll(() => rows.locator('th').allTextContents()).toEqual(['load', 'report', 'fetch']);
      const changed = rows.first().getByRole('img');
      const states = () => changed.evaluateAll((icons) => icons.map((icon) => icon.getAttribute('aria-label')));
      await expect.poll(states).toEqual(['succeeded', 'failed']);
      expect(await page.locator('.comparison .facts-list').textContent()).toContain('succeeded, then failed');
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.getByRole('link', { name: 'Open' }).click();
      await header(page).getByText('Failed after').waitFor();
      await page.getByRole('button', { name: 'Compare' }).click();
      await page.getByText('There is no earlier run of this workflow that has finished.').waitFor();
    });
  });

  it('has a step that is marked after a question, and is deleted', async () => {
    await withPage(files, async ({ daemon, open, start }) => {
      const id = await start('failing');
      // A step that does not exist is not selected.
      const page = await open(`/runs/${id}?step=nothing`);
      await header(page).getByText('Failed after').waitFor();
      expect(await header(page).getByRole('button').allTextContents()).toEqual(['Retry what failed', '⋯']);
      // The steps are updated a moment after the header.
      await page.locator('.step-pane .pane-head').getByText('failed').waitFor();

      const more = page.getByRole('button', { name: 'More actions of the step' });
      await more.click();
      expect(await page.getByRole('menuitem').allTextContents()).toEqual([
        'Retry load alone',
        'Retry from load',
        'Mark load as succeeded',
      ]);
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.keyboard.press('Escape');
      expect(await page.getByRole('menuitem').count()).toBe(0);
      await more.click();
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('Enter');
      expect(await page.getByRole('dialog').textContent()).toContain('Mark load as succeeded?');
      await page.getByRole('button', { name: 'Mark as succeeded' }).click();
      await page.getByRole('link', { name: 'load: succeeded, needs fetch' }).waitFor();
      const { steps } = JSON.parse(await daemon.get(`/api/v2/runs/${id}`));
      expect(steps.find(({ name }: { name: string }) => name === 'load').status).toBe('succeeded');

      await page.getByRole('button', { name: 'More actions of the run' }).click();
      await page.getByRole('menuitem', { name: 'Delete the run' }).click();
      expect(await page.getByRole('dialog').textContent()).toContain('Its logs are deleted too.');
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.getByRole('button', { name: 'Delete the run' }).click();
      await page.getByText('No runs yet').waitFor();
      expect(JSON.parse(await daemon.get('/api/v2/runs')).runs).toEqual([]);
    });
  });

  it('shows how its steps differ from the last run', async () => {
    const changing = {
      'changing.yaml': 'steps: [{name: check, command: test ! -e bad}, {name: other, command: echo}]\n',
    };
    await withPage(changing, async ({ open, start, write, daemon }) => {
      const first = await start('changing');
      await expect.poll(() => daemon.get(`/api/v2/runs/${first}`)).toContain('"status":"succeeded"');
      write('bad', '');
      const page = await open(`/runs/${await start('changing')}?view=steps`);
      const row = page.locator('.steps-pane .step-row', { hasText: 'check' });
      await expect.poll(() => row.locator('.before').textContent()).toBe('was succeeded');
      expect(await row.locator('.before').getAttribute('title')).toContain(first.slice(0, 8));
      expect(await accessibilityProblems(page)).toEqual([]);
    });
  });

  it('is readable on a phone', async () => {
    await withPage(files, async ({ open, start }) => {
      const page = await open(`/runs/${await start('failing')}`, { viewport: { width: 360, height: 740 } });
      await page.getByRole('heading', { name: 'What failed' }).waitFor();
      await page.getByRole('link', { name: /^report: / }).waitFor();

      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
      expect(await accessibilityProblems(page)).toEqual([]);
    });
  });

  it('is found in the list of runs, which announces new ones', async () => {
    await withPage(files, async ({ daemon, open, start, stop }) => {
      await start('failing');
      const page = await open('/runs');
      await page.locator('.run-row').first().waitFor();
      await page.getByText('step "load" failed: exit 1').waitFor();
      expect(await accessibilityProblems(page)).toEqual([]);

      const readings: string[] = [];
      page.on('request', (request) => {
        if (new URL(request.url()).pathname === '/api/v2/runs') readings.push(request.url());
      });
      const gated = await start('gated');
      await page.getByRole('button', { name: '1 new' }).waitFor();
      // A new reader of changes lets the daemon notice, before the next run, how many runs are running.
      await daemon.get('/api/v2/events?follow=false');
      await start('failing');
      await page.getByRole('button', { name: '2 new' }).waitFor();
      await stop(gated);
      expect(readings).toEqual([]);
      await page.getByRole('button', { name: '2 new' }).click();
      await expect.poll(() => page.locator('.run-row').count()).toBe(3);
      await page.getByLabel('Status').selectOption('succeeded');
      await page.getByText('No run matches.').waitFor();
      expect(new URL(page.url()).search).toBe('?status=succeeded');
    });
  });

  it('belongs to a workflow, whose screen has its graph, its runs and its text', async () => {
    await withPage(files, async ({ open, start }) => {
      await start('failing');
      const page = await open('/dags/failing');
      await page.locator('.graph .name', { hasText: 'report' }).waitFor();
      expect(new URL(page.url()).pathname).toBe('/w/failing');
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.getByRole('button', { name: 'History' }).click();
      await page.locator('.run-row').waitFor();
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.getByRole('button', { name: 'Spec' }).click();

      expect(await page.locator('.source .key').first().textContent()).toBe('steps');
      expect(await accessibilityProblems(page)).toEqual([]);
    });
  });
});
