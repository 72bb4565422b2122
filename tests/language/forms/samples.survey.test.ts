import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadWorkflow } from '#language/load.ts';
import { wf, withDirectory } from '../../support/wf.ts';
import { type Sample, samplesFolder, samplesOf } from './samples.ts';

const marked = ({ marks }: Sample, mark: string) =>
  marks.filter((line) => line.startsWith(mark)).map((line) => line.slice(mark.length));

/** Per class: files that run and print what they should, that are valid, and that are refused with a way out. */
const shares: { readonly [file: string]: readonly [run: number, valid: number, refused: number] } = {
  'dagu-1.24.txt': [27, 1, 2],
  'dagu-2.15.txt': [26, 2, 8],
  'dagu-2.6.txt': [20, 5, 5],
};

describe.each(readdirSync(samplesFolder))('files of %s', (file) => {
  const samples = samplesOf(file);

  it('are accepted, most of them', () => {
    const refused = samples.filter((sample) => marked(sample, '#! ').length > 0).length;
    const valid = samples.filter(({ marks }) => marks.includes('#valid')).length;
    expect([samples.length - refused - valid, valid, refused]).toEqual(shares[file]);
    expect((samples.length - refused) / samples.length).toBeGreaterThan(file === 'dagu-1.24.txt' ? 0.8 : 0.6);
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

/** Commands of which a shell and a step print the same. */
const commands = [
  'echo "a  b"',
  "echo 'it'\\''s'",
  'printf "%s\\n" b a c | sort -r | head -2',
  'echo one; echo two',
  'test -d / && echo directory || echo none',
  'echo $((6 * 7))',
  'for i in 1 2 3; do echo "n$i"; done',
  'A=x; echo "$A$A"',
  'echo "$(printf "%s-" a b)"',
  'cat <<END\nfirst $((1+1))\nEND',
  '{ echo in; echo err >&2; } 2>/dev/null',
  'case abc in a*) echo starts;; esac',
  'echo `echo back`',
  'false || echo after',
  'cd / && pwd',
  'echo a b c | while read x y; do echo "$y"; done',
  'printf "no end"',
  'echo ${PATH:+set}',
  'if [ 1 -lt 2 ]; then echo less; fi',
  'echo "a\\tb" | wc -c',
];

describe.each(['command', 'run'])('shell code under "%s"', (key) => {
  it('prints what a shell prints', async () => {
    await withDirectory(async (cwd) => {
      const steps = commands.map((text, index) => ({ id: `s${index}`, [key]: text, stdout: `out-${index}.txt` }));
      writeFileSync(join(cwd, 'w.yaml'), JSON.stringify({ type: 'chain', steps }));
      const { code, stderr } = await wf(['run', 'w.yaml', '--reporter', 'quiet'], { cwd });
      expect([code, stderr]).toEqual([0, '']);
      for (const [index, text] of commands.entries()) {
        const expected = execFileSync('sh', ['-c', text], { encoding: 'utf8' });
        expect([text, readFileSync(join(cwd, `out-${index}.txt`), 'utf8')]).toEqual([text, expected]);
      }
    });
  });
});
