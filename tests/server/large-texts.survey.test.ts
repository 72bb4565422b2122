import { expect, test } from 'vitest';
import { act, withDaemons } from '../support/daemon.ts';

const step = (i: number) => `  - {name: s${i}, command: echo ${i}}\n`;
/** Its run is skipped at once. */
const large = `preconditions: [{condition: a, expected: b}]\nsteps:\n${Array.from({ length: 20_000 }, (_, i) => step(i)).join('')}`;

test('the daemon answers requests while large texts are checked, saved and started', () =>
  withDaemons({ 'first.yaml': 'steps:\n  - {name: a, command: "true"}\n', 'second.yaml': large }, async ({ serve }) => {
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
  }));
