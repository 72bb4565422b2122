import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { browserPath } from '../support/browser.ts';
import { describeWith } from '../support/require.ts';
import { accessibilityProblems, withPage } from './visits.ts';

const files = { 'two.yaml': 'steps: [{name: one, command: echo one}, {name: two, command: echo two, depends: one}]\n' };

/** Whether the process of a run has written everything: it empties the file that names it. */
function isReleased(directory: string): boolean {
  const owners = readdirSync(directory).filter((name) => /^owner(?:\.\d+)?$/.test(name));
  return owners.every((name) => statSync(join(directory, name)).size === 0);
}

describeWith('chromium', browserPath !== null, 'the page of a run with lost files', () => {
  it('says which are lost, and shows what is left', async () => {
    await withPage(
      files,
      async ({ daemon, open, start }) => {
        const finished = async () => {
          const runId = await start('two');
          await expect.poll(() => daemon.get(`/api/v2/runs/${runId}`)).toContain('"status":"succeeded"');
          const { steps } = JSON.parse(await daemon.get(`/api/v2/runs/${runId}`));
          const directory = join(String(steps[1].log), '../..');
          await expect.poll(() => isReleased(directory)).toBe(true);
          return { runId, log: String(steps[1].log), directory };
        };
        const [logless, cut, empty] = [await finished(), await finished(), await finished()];
        rmSync(logless.log);
        const journal = join(cut.directory, 'journal.jsonl');
        const lines = readFileSync(journal, 'utf8').split('\n');
        const scheduled = lines.findIndex((line) => line.includes('"step.scheduled"'));
        writeFileSync(journal, `${lines.slice(0, scheduled + 1).join('\n')}\n{"type":"step.sta`);
        writeFileSync(join(empty.directory, 'journal.jsonl'), '');

        const page = await open(`/runs/${logless.runId}?step=two`);
        await page.getByText('The file of this log no longer exists.').waitFor();
        await page.goto(`${daemon.url}/runs/${cut.runId}?step=one`);
        await page.getByText('No log: this attempt ended before its start was recorded.').waitFor();
        expect(await accessibilityProblems(page)).toEqual([]);
        await page.goto(`${daemon.url}/runs/${empty.runId}`);
        await page.getByText('its events are unknown').waitFor();
        expect(await page.locator('.outcome strong').textContent()).toBe('Failed');
        // At once: the daemon may still be writing the end of the run.
        renameSync(empty.directory, join(empty.directory, '../../removed'));
        await page.reload();
        await page.getByRole('heading', { name: 'Run not found' }).waitFor();
      },
      { expected: [/status of 404/] },
    );
  });
});
