import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { withPlace } from '../support/past-runs.ts';

const guide = readFileSync(resolve(import.meta.dirname, '../../docs/guide/history-and-retry.md'), 'utf8');
const yaml = /```yaml\n([\s\S]*?)```/.exec(guide)?.[1] ?? '';
const commands = [...guide.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, text = '']) => text.trimEnd().split('\n'));

function program(text: string) {
  return `#!/bin/sh\n${text}\n`;
}

it('every command of the guide to past runs does what it says', async () => {
  await withPlace({ 'etl.yaml': `tags: nightly\nqueue: imports\n${yaml}` }, async ({ cwd, wf }) => {
    const options = { mode: 0o755 };
    writeFileSync(join(cwd, 'extract.sh'), program('echo "3 rows of $1"'), options);
    writeFileSync(join(cwd, 'load.sh'), program('echo "no such table" >&2; exit 1'), options);
    mkdirSync(join(cwd, 'home/dags'), { recursive: true });
    writeFileSync(join(cwd, 'home/dags/other.yaml'), yaml);
    expect((await wf('run', 'etl.yaml')).code).toBe(1);
    expect(commands.length).toBeGreaterThan(15);
    for (const command of commands) {
      if (command === 'wf retry etl') writeFileSync(join(cwd, 'load.sh'), program('echo "loading $*"'), options);
      const [, ...words] = command.split(' ');
      const { code, stdout } = await wf(...words);
      expect([command, code, stdout !== '']).toEqual([command, 0, true]);
    }
    expect((await wf('logs', 'etl', 'load')).stdout).toBe('loading 3 rows of yesterday\n');
  });
});
