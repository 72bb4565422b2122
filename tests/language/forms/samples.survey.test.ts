import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadWorkflow } from '#language/load.ts';
import { wf, withDirectory } from '../../support/wf.ts';
import { type Sample, samplesFolder, samplesOf } from './samples.ts';

const marked = ({ marks }: Sample, mark: string) =>
  marks.filter((line) => line.startsWith(mark)).map((line) => line.slice(mark.length));

describe.each(readdirSync(samplesFolder))('files of %s', (file) => {
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
