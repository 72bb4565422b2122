import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { givenParameters } from '#cli/run/parameters.ts';
import { expandWords, parseCommand } from '#core/words/words.ts';
import { playByWorkers, playLocally, type Scenario } from '../../support/loopback/both-hosts.ts';
import { bundleWorker } from '../../support/loopback/bundle.ts';

const fixtures = resolve(import.meta.dirname, '../../../fixtures/workflows');
const directory = mkdtempSync(join(tmpdir(), 'wf-test-'));
let worker = '';

beforeAll(async () => {
  worker = await bundleWorker(directory);
});
afterAll(() => rmSync(directory, { recursive: true }));

describe('fixtures/workflows', () => {
  it.each(readdirSync(fixtures))('%s happens in the same way with the attempts in another process', async (name) => {
    const scenario = scenarioOf(join(fixtures, name));
    expect(await playByWorkers(scenario, worker)).toEqual(await playLocally(scenario));
  });
});

/** Each case says in its first line how it is run. */
function scenarioOf(folder: string): Scenario {
  const [first = ''] = readFileSync(join(folder, 'workflow.yaml'), 'utf8').split('\n');
  const command = parseCommand(first.replace(/^# wf run workflow.yaml/, 'wf'));
  if (command.kind !== 'words') throw new Error(`${folder}: the first line must be a plain command`);
  const words = expandWords(command.words, () => undefined).slice(1);
  const param: string[] = [];
  const envFiles: string[] = [];
  const rest: string[] = [];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '--') rest.push(...words.splice(0));
    else if (word === '-p') param.push(words.shift() ?? '');
    else if (word === '--env-file') envFiles.push(words.shift() ?? '');
    else rest.push(word);
  }
  return { files: folder, envFiles, request: { params: givenParameters({ param, called: 'run', rest }) } };
}
