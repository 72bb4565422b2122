import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expandWords, parseCommand } from '#core/words/words.ts';
import { stableOutput } from '../support/stable-output.ts';
import { type Ended, wf, withDirectory } from '../support/wf.ts';

const fixtures = resolve(import.meta.dirname, '../../fixtures/workflows');
const isUpdating = process.env['WF_UPDATE_GOLDENS'] === '1';

describe('fixtures/workflows', () => {
  it.each(readdirSync(fixtures))('%s prints what its output.txt says', async (name) => {
    const folder = join(fixtures, name);
    const golden = join(folder, 'output.txt');
    const actual = await withDirectory(async (home) => stableOutput(await run(folder, home), { home, folder }));
    if (isUpdating) writeFileSync(golden, actual);
    expect(actual).toBe(readFileSync(golden, 'utf8'));
  });
});

/** Each case says in its first line how it is run. */
function run(folder: string, home: string): Promise<Ended> {
  const [first = ''] = readFileSync(join(folder, 'workflow.yaml'), 'utf8').split('\n');
  const command = parseCommand(first.replace(/^# wf /, ''));
  if (command.kind !== 'words') throw new Error(`${folder}: the first line must be a plain command`);
  const words = expandWords(command.words, () => undefined);
  return wf(words, { cwd: folder, env: { WF_HOME: home, WF_REPORTER: 'plain' } });
}
