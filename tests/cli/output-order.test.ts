import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { wf, withDirectory } from '../support/wf.ts';

const line = `node -e "process.stdout.write('x'.repeat(8000000)+'\\\\n')"`;
/** Long lines of some steps keep the reporter busy while short steps start and end beside them. */
const yaml = `steps:
${['one', 'two', 'three'].map((name) => `  - {name: ${name}, command: ${JSON.stringify(line)}}\n`).join('')}${Array.from(
  { length: 20 },
  (_, i) => `  - {name: short-${i}, command: echo out-${i}${i === 0 ? '' : `, depends: [short-${i - 1}]`}}\n`,
).join('')}`;

type Line = { readonly type: string; readonly step?: string; readonly at: string };

it('all output of a step is between its start and its end, whatever other steps print', async () => {
  await withDirectory(async (cwd) => {
    writeFileSync(join(cwd, 'w.yaml'), yaml);
    const { stdout } = await wf(['run', '--reporter', 'json', 'w.yaml'], { cwd, env: { WF_HOME: join(cwd, 'home') } });
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text) as Line);
    const running = new Set<string>();
    const misplaced: Line[] = [];
    for (const found of lines) {
      if (found.type === 'step.started') running.add(found.step ?? '');
      if (found.type === 'step.output' && !running.has(found.step ?? '')) misplaced.push(found);
      if (found.type === 'step.finished') running.delete(found.step ?? '');
    }
    expect(misplaced.map(({ step }) => step)).toEqual([]);
    expect(lines.filter(({ type }) => type === 'step.output').length).toBeGreaterThan(23);
  });
});

it.each([
  ['for i in $(seq 30); do echo line $i; done; echo last >&2', 'stdout before stderr'],
  ['for i in $(seq 30); do echo line $i >&2; done; echo last', 'stderr before stdout'],
])('the log of a step with an output keeps the order of its streams: %s', (script) =>
  withDirectory(async (cwd) => {
    writeFileSync(join(cwd, 'w.yaml'), JSON.stringify({ steps: [{ name: 'a', shell: 'bash', script, output: 'V' }] }));
    const env = { WF_HOME: join(cwd, 'home') };
    await wf(['run', 'w.yaml'], { cwd, env });
    const { stdout } = await wf(['logs', '@latest', 'a'], { cwd, env });
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('last');
  }),
);

it('lines of the plain report are in that order too', async () => {
  await withDirectory(async (cwd) => {
    writeFileSync(join(cwd, 'w.yaml'), yaml);
    const { stdout } = await wf(['run', 'w.yaml'], { cwd, env: { WF_HOME: join(cwd, 'home') } });
    const lines = stdout.split('\n').map((text) => text.slice(9, 60).replace(/\] +/, '] '));
    const offsets = Array.from({ length: 20 }, (_, i) =>
      [`[short-${i}] START`, `[short-${i}] | out-${i}`, `[short-${i}] OK`].map((text) =>
        lines.findIndex((found) => found.startsWith(text)),
      ),
    );
    expect(offsets.flat().every((offset) => offset >= 0)).toBe(true);
    expect(offsets.flat()).toEqual(offsets.flat().toSorted((a, b) => a - b));
  });
});
