import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { wf, withDirectory } from '../support/wf.ts';

const root = resolve(import.meta.dirname, '../..');
const corpus = process.env['WF_CORPUS'];

/** Real people's files. Without them the same checks are made on one of our own. */
describe('real files', () => {
  const list =
    corpus === undefined ? 'showcase.yaml\tvalid\tshell' : readFileSync(join(corpus, 'expected.tsv'), 'utf8').trimEnd();
  const base = corpus ?? join(root, 'fixtures');
  const rows = list
    .split('\n')
    .filter((line) => !line.startsWith('file\t'))
    .map((line) => line.split('\t') as [string, string, string]);

  it.each(rows)('%s is %s', async (file, expected) => {
    await withDirectory(async (home) => {
      const { code, stderr: written } = await wf(['dry', join(base, file)], { env: { WF_HOME: home } });
      // Warnings may come before; an invalid file has errors.
      const stderr = /^error:/m.test(written) ? written : '';
      expect([code, stderr]).toEqual(
        expected === 'valid'
          ? [0, '']
          : [2, expect.stringContaining(expected === 'fragment' ? 'run_pipeline' : 'configuration')],
      );
    });
  });

  it.each(rows.filter(([, , how]) => how === 'shell'))('%s runs', async (file) => {
    await withDirectory(async (directory) => {
      const copy = join(directory, 'copy');
      mkdirSync(copy);
      cpSync(join(base, dirname(file)), copy, { recursive: true });
      const path = join(copy, basename(file));
      writeFileSync(path, readFileSync(path, 'utf8').replace(/\bsleep \d+/g, 'sleep 0.1'));
      const { code, stdout, stderr } = await wf(['run', path], {
        cwd: copy,
        env: { WF_HOME: join(directory, 'home'), HOME: directory },
      });
      expect([code, stderr, stdout.split('\n').at(-2)]).toEqual([0, '', expect.stringMatching(/^SUCCEEDED /)]);
    });
  });
});
