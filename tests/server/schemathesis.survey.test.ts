import { execFile } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { untilOver } from '../support/background-runs.ts';
import { withDaemons } from '../support/daemon.ts';
import { describeWith, isInstalled } from '../support/require.ts';

const files = {
  'etl.yaml': `
schedule: "0 3 * * *"
params: DAY=yesterday
steps:
  - { name: extract, command: echo 42, output: ROWS }
  - { name: load, command: echo $DAY, depends: extract }
`,
  'release.yaml': 'steps: [{ name: ship, approval: { input: WHY } }]\n',
};

const configuration = join(import.meta.dirname, '../support/schemathesis');

/** Checks that are left out: the own one replaces the first; a daemon answers a client that guesses logins with 429. */
const leftOut = 'positive_data_acceptance,ignored_auth';

describeWith('schemathesis', isInstalled('schemathesis'), 'the API by its document', () => {
  test.each([
    ['v2', '^(?!/api/v1)', '80'],
    ['v1', '^/api/v1', '120'],
  ])('schemathesis finds nothing in %s', { timeout: 900_000 }, (_, paths, examples) =>
    withDaemons(files, async (place) => {
      const { cwd } = place;
      const daemon = await place.serve('--require-login', '--on-shutdown', 'stop');
      const Authorization = `Bearer ${readFileSync(join(cwd, 'home/daemon/token'), 'utf8').trim()}`;
      for (const [workflow, runId] of [
        ['etl', 'etl-2026-03-01'],
        ['release', 'waiting'],
      ]) {
        const body = new URLSearchParams({ runId: runId ?? '' });
        const url = `${daemon.url}/api/v2/workflows/${workflow}/runs`;
        expect((await fetch(url, { method: 'POST', body, headers: { Authorization } })).status).toBe(201);
      }
      await untilOver(place, 'etl-2026-03-01', 'succeeded');
      copyFileSync(join(configuration, 'explained.py'), join(cwd, 'explained.py'));

      const { code, output } = await schemathesis(cwd, [
        ...['--config-file', join(configuration, 'schemathesis.toml'), 'run', `${daemon.url}/api/openapi.json`],
        ...['--header', `Authorization: ${Authorization}`, '--include-path-regex', paths],
        ...['--seed', '20261127', '--max-examples', examples, '--exclude-checks', leftOut],
        ...['--continue-on-failure', '--generation-database', 'none', '--request-timeout', '300', '--no-color'],
      ]);

      expect([code, output]).toEqual([0, expect.stringMatching(/ \d{4,} generated, \d+ passed/)]);
      expect((await daemon.end('SIGTERM')).code).toBe(0);
    }),
  );
});

function schemathesis(cwd: string, args: readonly string[]): Promise<{ code: number; output: string }> {
  const env = { ...process.env, PYTHONPATH: cwd, PYTHONDONTWRITEBYTECODE: '1' };
  return new Promise((resolve) => {
    execFile('schemathesis', args, { cwd, env, maxBuffer: 1e8 }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    );
  });
}
