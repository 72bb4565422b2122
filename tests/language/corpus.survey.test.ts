import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadWorkflow } from '#language/load.ts';

type Expectation = 'valid' | 'fragment' | 'config';
type Case = { readonly path: string; readonly expect: Expectation };

/** The files of a corpus: a directory with `expected.tsv`, whose columns are file and expectation. */
function corpusCases(dir: string): Case[] {
  const rows = readFileSync(join(dir, 'expected.tsv'), 'utf8').trim().split('\n').slice(1);
  return rows.map((row) => {
    const [file = '', expectation = ''] = row.split('\t');
    return { path: join(dir, file), expect: expectation as Expectation };
  });
}

/** The kind of a file, in the words of `expected.tsv`, or its errors. */
function outcomeOf(path: string): string {
  const { workflow, diagnostics } = loadWorkflow({ file: path });
  const errors = diagnostics.filter((diagnostic) => diagnostic.severity === 'error');
  const codes = new Set(errors.map((error) => error.code));
  if (workflow !== null && errors.length === 0) return 'valid';
  if (codes.size === 1 && codes.has('missing-dependency')) return 'fragment';
  if (codes.size === 1 && codes.has('config-file')) return 'config';
  return errors.map((error) => `${error.code}: ${error.message}`).join('\n');
}

const inline = mkdtempSync(join(tmpdir(), 'wf-corpus-'));
afterAll(() => rmSync(inline, { recursive: true }));

describe('the harness for a corpus', () => {
  it('distinguishes a valid file, a fragment and a configuration file', () => {
    writeFileSync(join(inline, 'good.yaml'), 'steps:\n  - name: a\n    command: "true"\n');
    writeFileSync(join(inline, 'part.yaml'), 'steps:\n  - {name: a, command: "true", depends: [b]}\n');
    writeFileSync(join(inline, 'config.yaml'), 'logForwarding:\n  enabled: true\n');
    writeFileSync(join(inline, 'bad.yaml'), 'steps:\n  - {name: a, command: [[]]}\n');
    const rows = ['file\texpect\trun', 'good.yaml\tvalid\t-', 'part.yaml\tfragment\t-', 'config.yaml\tconfig\t-'];
    writeFileSync(join(inline, 'expected.tsv'), rows.join('\n'));
    const cases = corpusCases(inline);
    expect(cases.map((entry) => [outcomeOf(entry.path), entry.expect])).toEqual([
      ['valid', 'valid'],
      ['fragment', 'fragment'],
      ['config', 'config'],
    ]);
    expect(outcomeOf(join(inline, 'bad.yaml'))).toContain('wrong-type');
  });
});

const corpus = process.env.WF_CORPUS;
if (corpus !== undefined && corpus !== '') {
  describe('files of real projects', () => {
    it.each(corpusCases(corpus))('$expect: $path', ({ path, expect: expected }) => {
      expect(outcomeOf(path)).toBe(expected);
    });
  });
}
