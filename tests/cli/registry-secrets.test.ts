import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { jsonOf } from '../support/api-server.ts';
import { apiWorld } from '../support/api-world.ts';
import { withPlace } from '../support/past-runs.ts';

const secrets = [
  'pass-of-ann-1',
  'pass-of-env-2',
  Buffer.from('bob:pass-of-bob-3').toString('base64'),
  'pass-of-docker-4',
];
const [ann, , bob, docker] = secrets;
const steps = `steps:
  - {name: show, command: 'echo ${ann} "$FROM_ENV" ${bob}', output: OUT}
  - {name: fail, depends: show, command: 'echo "$OUT ${docker}" >&2; false'}
`;
const files = {
  'map.yaml': `env: [FROM_ENV: pass-of-env-2]
registryAuths:
  one.example.com: {username: ann, password: ${ann}}
  two.example.com: {username: ann, password: $FROM_ENV}
  three.example.com: {auth: ${bob}}
${steps.replaceAll(docker ?? '', bob ?? '')}`,
  'text.yaml': `env: [FROM_ENV: text]
registryAuths: '{"auths": {"four.example.com": {"auth": "${docker}"}}}'
steps:
  - {name: show, command: "true"}
`,
};

/** Which of the secrets a text shows. */
const shown = (text: string) => secrets.filter((secret) => text.includes(secret));

it.each(['map', 'text'])('no value of registryAuths is stored or shown, in the form of a %s', async (form) => {
  await withPlace(files, async (place) => {
    const { wf, runsDir } = place;
    const outputs = [
      await wf('dry', `${form}.yaml`),
      await wf('dry', `${form}.yaml`, '--json'),
      await wf('run', `${form}.yaml`, '--run-id', 'r1', '--reporter', 'plain'),
      await wf('status', 'r1'),
      await wf('status', 'r1', '--json'),
      await wf('logs', 'r1'),
      await wf('report', 'r1', '-o', '-'),
    ];
    expect(outputs.map(({ code }) => code)).not.toContain(2);
    expect(outputs.flatMap(({ stdout, stderr }) => shown(stdout + stderr))).toEqual([]);
    expect(outputs[6]?.stdout).toContain('</html>');
    const stored = readdirSync(runsDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const texts = stored.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'));
    expect([texts.length > 3, texts.flatMap(shown)]).toEqual([true, []]);
  });
});

it.each(['map', 'text'])('the API shows none of them to a read-only login, in the form of a %s', async (form) => {
  const world = await apiWorld(files, { login: { token: 'all', readOnlyToken: 'look', basic: null } });
  const headers = { Authorization: 'Bearer look' };
  const detail = await world.ask('GET', `/api/v2/workflows/${form}`, { headers });
  expect([detail.status, shown(JSON.stringify(jsonOf(detail)))]).toEqual([200, []]);
});
