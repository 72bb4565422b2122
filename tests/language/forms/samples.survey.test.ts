import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadWorkflow } from '#language/load.ts';
import { wf, withDirectory } from '../../support/wf.ts';

/**
 * A file as the documentation of a version describes it. `#= LINE`: a line that its steps print, in any order; `#! CODE`: the
 * error that refuses it; `#valid`: it is not run, since it needs a service.
 */
type Sample = { readonly name: string; readonly marks: readonly string[]; readonly text: string };

const root = join(import.meta.dirname, '../../../fixtures/forms');

function samplesOf(file: string): Sample[] {
  const parts = readFileSync(join(root, file), 'utf8').split(/^#: /m);
  return parts.slice(1).map((part) => {
    const [name = '', ...lines] = part.split('\n');
    const marks = lines.filter((line) => /^#(?:[=!] |valid$)/.test(line));
    return { name, marks, text: lines.filter((line) => !marks.includes(line)).join('\n') };
  });
}

const marked = ({ marks }: Sample, mark: string) =>
  marks.filter((line) => line.startsWith(mark)).map((line) => line.slice(mark.length));

describe.each(readdirSync(root))('files of %s', (file) => {
  const samples = samplesOf(file);

  it('are twenty', () => {
    expect(samples.length).toBe(20);
  });

  it.each(samples.map((sample) => [sample.name, sample] as const))('%s', async (_, sample) => {
    const [code] = marked(sample, '#! ');
    const { workflow, diagnostics } = loadWorkflow({ text: sample.text, file: null, dir: '/' });
    const errors = diagnostics.filter(({ severity }) => severity === 'error');
    if (code !== undefined) {
      expect(errors.map((error) => error.code)).toContain(code);
      // Each says what to write instead.
      expect(errors.every(({ help, label }) => (help ?? '') !== '' || label !== '')).toBe(true);
      return;
    }
    expect(errors).toEqual([]);
    expect(workflow).not.toBeNull();
    if (sample.marks.includes('#valid')) return;
    await withDirectory(async (cwd) => {
      writeFileSync(join(cwd, 'w.yaml'), sample.text);
      const { code: status, stdout, stderr } = await wf(['run', 'w.yaml', '--reporter', 'plain'], { cwd });
      const lines = [...`${stdout}${stderr}`.matchAll(/^\S+ \[[^\]]*(?:\[[^\]]*\])?[^\]]*\] +\| (.*)$/gm)].map(
        ([, line = '']) => line,
      );
      const printed = lines.filter((line) => !/^(?:run \S+ of workflow|\{"name":)/.test(line));
      expect([status, printed.sort()]).toEqual([0, marked(sample, '#= ').sort()]);
    });
  });
});
