import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { journalOf, untilGone, untilOver } from '../support/background-runs.ts';
import { withDaemons } from '../support/daemon.ts';
import { type Place, withPlace } from '../support/past-runs.ts';
import { describeWith, isInstalled } from '../support/require.ts';
import { root } from './launch.ts';

/**
 * The lines of Node that users have, besides the one that runs the tests. Each is the program `node22` and so on in PATH;
 * what a test runs must print no warning of Node.
 */
const lines = ['node22', 'node24', 'node26'];

const quiet = { code: 0, stderr: '' };
const warningOfNode = /\(node:\d+\)/;

/** Uses every package that is loaded on demand, except those of real services. */
const everyPackage = (url: string) => `
schedule: "0 3 * * 1-5"
params:
  type: object
  properties:
    COUNT: { type: integer, default: 3 }
steps:
  - &first
    name: health
    executor: http
    command: GET ${url}/health
    output: HEALTH
  - name: filter
    executor: jq
    command: .n + 1
    script: '{"n": 41}'
    output: ANSWER
  - name: pattern
    command: echo "$ANSWER of $COUNT, now \`echo back\`"
    depends: [health, filter]
    preconditions:
      - { condition: abc, expected: "re:^a.c$" }
`;

const chain = Array.from({ length: 60 }, (_, at) =>
  ['', `  - name: s${at}`, `    command: echo ${at}`, ...(at > 0 ? [`    depends: s${at - 1}`] : [])].join('\n'),
).join('');

/** More than 16 KiB, for which V8 is set up in another way, and started by a starter. */
const manySteps = (count: number) =>
  `type: graph\nmaxActiveSteps: 2\nsteps:\n${Array.from({ length: count }, (_, at) => `  - name: step number ${at}\n    command: "test ${at} -lt ${count}"\n`).join('')}`;

for (const node of lines) {
  describeWith(node, isInstalled(node), `wf with ${node}`, () => {
    const inPlace = (files: Readonly<Record<string, string>>, use: (place: Place) => Promise<void>) =>
      withPlace(files, use, node);

    test('runs the tour, the first time and with its own compiled code', () =>
      inPlace({}, async ({ wf }) => {
        for (const _time of ['first', 'second']) {
          const { stdout, ...ended } = await wf('run', join(root, 'fixtures/showcase.yaml'));
          expect(ended).toMatchObject(quiet);
          expect(stdout).toContain('SUCCEEDED showcase');
        }
      }));

    test('starts the steps of a chain and of a large file', () =>
      inPlace({ 'chain.yaml': `type: graph\nsteps:${chain}\n`, 'many.yaml': manySteps(400) }, async ({ wf }) => {
        for (const [file, count] of [
          ['chain.yaml', 60],
          ['many.yaml', 400],
        ] as const) {
          const { stdout, ...ended } = await wf('run', file);
          expect(ended).toMatchObject(quiet);
          expect(stdout).toContain(`${count} succeeded`);
        }
      }));

    test('reports a failed step', () =>
      inPlace({ 'w.yaml': 'steps:\n  - name: a\n    command: sh -c "echo why >&2; exit 3"\n' }, async ({ wf }) => {
        const { code, stdout, stderr } = await wf('run', 'w.yaml');
        expect([code, stderr]).toEqual([1, '']);
        expect(stdout).toContain('exit 3');
        expect(stdout).toContain('| why');
      }));

    test('stops the processes of a step, and runs the handler', () =>
      inPlace(
        {
          'w.yaml':
            'steps:\n  - name: a\n    command: sh -c "echo $$ > pid; echo started; sleep 300; true"\nhandlerOn:\n  cancel:\n    command: echo cleaned\n',
        },
        async ({ cwd, start }) => {
          const run = start('run', 'w.yaml');
          await run.until('| started');
          const pid = Number(readFileSync(join(cwd, 'pid'), 'utf8'));
          run.kill('SIGTERM');
          const { code, stdout, stderr } = await run.ended;
          expect([code, stderr]).toEqual([143, '']);
          expect(stdout).toContain('| cleaned');
          await untilGone(pid);
        },
      ));

    test('answers about past runs and files', () =>
      inPlace({ 'w.yaml': 'steps:\n  - name: a\n    command: echo hello\n' }, async ({ wf }) => {
        await wf('run', 'w.yaml', '--run-id', 'r1');
        for (const [words, answer] of [
          [['status', 'r1'], 'succeeded'],
          [['history'], 'r1'],
          [['logs', 'r1', 'a'], 'hello'],
          [['report', 'r1', '--output', '-'], '<!doctype html>'],
          [['validate', 'w.yaml'], 'valid'],
          [['graph', 'w.yaml'], 'a'],
          [['list', '--dags', '.'], 'w'],
          [['schema', 'steps'], 'command'],
          [['config'], 'home'],
          [['doctor'], 'node'],
          [['completion', 'bash'], 'complete'],
          [['gc', '--keep', '1'], ''],
        ] as const) {
          const { stdout, ...ended } = await wf(...words);
          expect([words, ended]).toEqual([words, { ...quiet, signal: null }]);
          expect(stdout.toLowerCase()).toContain(answer);
        }
      }));

    test('serves the API and the page, and starts runs in processes of their own', () =>
      withDaemons(
        { 'hello.yaml': 'steps:\n  - name: a\n    command: echo hello\n' },
        async (place) => {
          const daemon = await place.serve();
          expect(await daemon.get('/')).toContain('<!doctype html>');
          expect(await daemon.get('/metrics')).toContain('wf_');
          place.write('every.yaml', everyPackage(daemon.url));
          for (const workflow of ['hello', 'hello', 'every']) {
            const runId = randomUUID();
            expect((await daemon.act(workflow, { action: 'start', 'request-id': runId })).status).toBe(200);
            await untilOver(place, runId, 'succeeded');
            expect(journalOf(place, runId).at(-1)?.type).toBe('run.finished');
          }
          expect(await place.wf('list', '--server', daemon.url)).toMatchObject(quiet);
          const { code, stderr } = await daemon.end('SIGTERM');
          expect([code, stderr]).toEqual([0, expect.not.stringMatching(warningOfNode)]);
        },
        node,
      ));
  });
}
