import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Diagnostic } from '#language/diagnostic.ts';
import { loadWorkflow } from '#language/load.ts';
import { decode } from '#language/read/decode.ts';
import { keyDepthCounter } from '#language/read/parse.ts';
import { nearNames } from '#system/near-names.ts';
import { patternProblem, patternSize, withPatternBudget } from '#system/pattern.ts';

vi.mock('#system/near-names.ts', { spy: true });
vi.mock('#system/pattern.ts', { spy: true });
vi.mock('#language/read/decode.ts', { spy: true });

const each = (count: number, make: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => make(i)).join('');
const diagnosticsOf = (text: string): readonly Diagnostic[] => loadWorkflow({ text, file: null, dir: '/' }).diagnostics;

beforeEach(() => {
  vi.clearAllMocks();
});

afterEach(() => {
  vi.restoreAllMocks();
});

describe('names are suggested only for problems that are shown', () => {
  const suggested = (text: string) => {
    vi.mocked(nearNames).mockClear();
    diagnosticsOf(text);
    return vi.mocked(nearNames).mock.calls.length;
  };

  it.each([
    ['unknown anchors', `${each(500, (i) => `x-${i}: &a${i} 1\n`)}${each(500, (i) => `x-b${i}: *b${i}\n`)}`],
    ['missing steps', `steps:\n${each(500, (i) => `- {name: a${i}, command: x, depends: b${i}}\n`)}`],
    ['unknown functions', `steps:\n${each(500, (i) => `- {name: a${i}, call: {function: f${i}}}\n`)}`],
    ['unknown keys', `steps:\n${each(500, (i) => `- {name: a${i}, comand: x}\n`)}`],
    ['missing imports', `imports:\n${each(500, (i) => `- none-${i}\n`)}`],
  ])('%s', (_, text) => {
    expect(suggested(text)).toBeLessThanOrEqual(100);
  });

  it('and a later anchor is not', () => {
    const [found] = diagnosticsOf('x-a: &first 1\nx-b: *frist\nx-c: &frisky 1\nx-d: &frist 1\n');
    expect(found).toMatchObject({ code: 'unknown-anchor', label: 'did you mean "first"?' });
  });
});

describe('a long line is read in time that grows with its length', () => {
  it.each([
    ['warnings', 'A=1 '],
    ['open quotes', "A='b "],
    ['open paths', '${A.b'],
    ['open brackets', '${A['],
    ['braces', '{ '],
  ])(
    'with many %s',
    (_, part) => {
      const text = `steps: [{name: a, command: x}]\nparams: "${part.repeat(700_000 / part.length)}"\n`;
      expect(loadWorkflow({ text, file: null, dir: '/', environment: [] }).workflow).not.toBeNull();
    },
    60_000,
  );
});

describe('similar names', () => {
  it('are searched for among a limited number of candidates', () => {
    let asked = 0;
    function* endless() {
      for (;;) yield `${asked++}-a-name-that-is-like-others`;
    }
    expect(nearNames('a-name-that-is-like-others', endless())).toHaveLength(3);
    expect(asked).toBeLessThan(100_000);
  });

  it('are found at the end of a thousand', () => {
    const names = Array.from({ length: 1000 }, (_, i) => `process-customer-${String(i).padStart(4, '0')}`);
    expect(nearNames('proces-customer-0999', names)[0]).toBe('process-customer-0999');
  });
});

describe('a call reports', () => {
  const file = (count: number) =>
    `functions:\n- {name: f, command: x, params: ${each(count, (i) => `p${i} `)}}\nsteps:\n- {name: a, call: {function: f}}\n`;

  it('ten missing arguments, and lists ten parameters', () => {
    const found = diagnosticsOf(file(12));
    expect(found).toHaveLength(10);
    expect(found[9]?.message).toBe('function "f" needs the argument "p9"');
    expect(found[9]?.help).toBe('It takes p0, p1, p2, p3, p4, p5, p6, p7, p8, p9 and 2 more.');
  });

  it('all of ten', () => {
    expect(diagnosticsOf(file(10)).at(-1)?.help).toBe('It takes p0, p1, p2, p3, p4, p5, p6, p7, p8, p9.');
  });
});

describe('a pattern', () => {
  it('is compiled once for all its uses', () => {
    const condition = '{condition: a, expected: "re:(a"}';
    const steps = each(50, (i) => `- {name: a${i}, command: x, preconditions: ${condition}}\n`);
    const found = diagnosticsOf(`type: graph\npreconditions: [${condition}]\nsteps:\n${steps}`);
    expect(found.map(({ code }) => code)).toEqual(Array(51).fill('invalid-pattern'));
    const sizes: number[] = [];
    withPatternBudget(
      (size) => sizes.push(size),
      () => ['(a', '(a', 'b'].map(patternProblem),
    );
    expect(sizes).toEqual([2, 1]);
  });

  it('is not compiled if the patterns before it exceeded the limit', () => {
    const conditions = each(500, (i) => `- {condition: a, expected: "re:((a{30}){30}|b${i})"}\n`);
    const found = diagnosticsOf(`preconditions:\n${conditions}steps: [{name: a, command: x}]\n`);
    expect(found).toHaveLength(1);
    expect(found[0]?.message).toBe('this regular expression and those before it are too large to check');
    expect(vi.mocked(patternProblem).mock.calls.length).toBeLessThan(200);
  });

  it.each([
    ['abc', 3],
    ['a{3}', 3],
    ['a{2,5}', 5],
    ['a{2,}', 2],
    ['a{0}', 1],
    ['(ab){10}', 31],
    ['((a{30}){30})', 933],
    ['[a-z]{2}', 10],
    ['\\.\\d', 4],
    ['\\pL', 50],
    ['(\\pL{1,999})', 49952],
    ['\\p{Greek}{2}', 100],
    ['(?i)abc', 70],
    ['((((', 4],
    ['))))', 4],
    ['[unclosed', 9],
    ['', 0],
  ])('%s has a size', (pattern, size) => {
    expect(patternSize(pattern)).toBe(size);
  });
});

it('a file that is imported many times is read once', () => {
  const dir = mkdtempSync(join(tmpdir(), 'wf-imports-'));
  try {
    writeFileSync(join(dir, 'other.yaml'), 'steps: [{name: b, command: x}]\n');
    const { diagnostics } = loadWorkflow({ text: `imports:\n${'- other\n'.repeat(50)}`, file: null, dir });
    expect(diagnostics.map(({ code }) => code)).toEqual(Array(49).fill('import-twice'));
    expect(decode).toHaveBeenCalledTimes(2);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

it('a time zone is looked up once', () => {
  const formats = vi.spyOn(Intl, 'DateTimeFormat');
  expect(
    diagnosticsOf(`schedule:\n${'- "TZ=Asia/Tokyo 0 5 * * *"\n'.repeat(50)}steps: [{name: a, command: x}]\n`),
  ).toEqual([]);
  expect(formats.mock.calls.length).toBeLessThanOrEqual(1);
});

it('the depth of keys in brackets is tracked', () => {
  const depthOf = (text: string) => Math.max(...[...text].map(keyDepthCounter()));
  expect(
    ['a: b', '[a, b]', '[a]: b', '{[a] : b}', '[[a]: b]: c', '[[a]: b, [c]: d]: e', '[{[a]: b}]\n: c'].map(depthOf),
  ).toEqual([0, 0, 1, 1, 2, 2, 2]);
});

it('a text with too many tokens is not read to its end', () => {
  const [found, ...others] = diagnosticsOf(`steps: [${'1,'.repeat(500_000)}]\n`);
  expect(found).toMatchObject({ code: 'file-too-large', message: expect.stringContaining('800000 tokens') });
  expect(others).toEqual([]);
});
