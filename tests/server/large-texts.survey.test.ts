import { expect, test } from 'vitest';
import { act, withDaemons } from '../support/daemon.ts';

const step = (i: number) => `  - {name: s${i}, command: echo ${i}}\n`;
/** Its run is skipped at once. */
const large = `preconditions: [{condition: a, expected: b}]\nsteps:\n${Array.from({ length: 20_000 }, (_, i) => step(i)).join('')}`;

test(
  'the daemon answers requests while large texts are checked, saved and started',
  () =>
    withDaemons(
      { 'first.yaml': 'steps:\n  - {name: a, command: "true"}\n', 'second.yaml': large },
      async ({ serve }) => {
        const { url } = await serve();
        const answered: string[] = [];
        const asked = async (what: string, answer: Promise<{ readonly status: number }>) => {
          const { status } = await answer;
          answered.push(`${what} ${status}`);
        };
        const check = () =>
          fetch(`${url}/api/v2/validate`, { method: 'POST', body: large, headers: { 'Content-Type': 'text/yaml' } });
        const slow = [
          asked('checked', check()),
          asked('checked', check()),
          asked('saved', act(url, 'first', { action: 'save', value: large })),
          asked('started', act(url, 'second', { action: 'start', 'request-id': 'r1' })),
        ];
        for (let i = 0; i < 10; i += 1) await asked('health', fetch(`${url}/health`));
        await Promise.all(slow);
        expect(answered.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 'health 200'));
        expect(answered.slice(10).sort()).toEqual(['checked 200', 'checked 200', 'saved 200', 'started 200']);
        const { Definition } = (await (await fetch(`${url}/api/v1/dags/first/spec`)).json()) as { Definition: string };
        expect(Definition).toBe(large);
      },
    ),
  180_000,
);

const quick = 'steps:\n  - {name: a, command: "true"}\n';
/** Each request takes longer than a thread may work on it. */
const bombs = {
  'a search': {
    file: `description: "${'aé'.repeat(300_000)}"\n${quick}`,
    path: `/api/v1/search?q=${encodeURIComponent('(\\pL{1,190}){1}x')}`,
    body: null,
    refusal: 'the search takes too long',
  },
  'the check of parameters': {
    file: `params: ${JSON.stringify({
      type: 'object',
      $defs: { d: { anyOf: Array.from({ length: 300 }, (_, i) => ({ const: `x${i}` })) } },
      properties: { L: { type: 'array', items: { $ref: '#/$defs/d' } } },
    })}\n${quick}`,
    path: '/api/v2/workflows/bomb/runs',
    body: JSON.stringify({ params: { L: JSON.stringify(Array.from({ length: 80_000 }, () => 'yyyyyy')) } }),
    refusal: 'the parameters take too long to check',
  },
};

test.each(Object.entries(bombs))('a daemon answers requests and ends while a thread works on %s for long', (_, bomb) =>
  withDaemons({ 'bomb.yaml': bomb.file }, async ({ serve }) => {
    const { url, end } = await serve();
    const ask = async () => {
      const asked = bomb.body === null ? {} : { method: 'POST', body: bomb.body };
      return (await fetch(url + bomb.path, { ...asked, headers: { 'Content-Type': 'application/json' } })).text();
    };
    const answered: string[] = [];
    const slow = ask().then((text) => answered.push(text));
    for (let i = 0; i < 10; i += 1) answered.push((await fetch(`${url}/health`)).ok ? 'health' : 'none');
    await slow;
    expect(answered).toEqual([...Array(10).fill('health'), expect.stringContaining(bomb.refusal)]);

    const cut = ask().catch(() => 'cut off');
    await fetch(`${url}/health`);
    expect((await end('SIGTERM')).code).toBe(0);
    await cut;
  }),
);
