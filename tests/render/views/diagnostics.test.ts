import { describe, expect, test } from 'vitest';
import type { Diagnostic, Position } from '#language/diagnostic.ts';
import { diagnosticJson } from '#render/data-views.ts';
import { githubAnnotation, renderDiagnostics } from '#render/views/diagnostics.ts';
import { expectGolden } from '../support/golden.ts';

const plain = { color: false, unicode: true, cwd: '/project' };

/** An error without optional parts. */
function diagnostic(settings: Partial<Diagnostic> = {}): Diagnostic {
  return {
    severity: 'error',
    code: 'unknown-key',
    message: 'unknown key "comand" in step "fetch"',
    position: null,
    label: '',
    related: [],
    importedFrom: [],
    help: null,
    ...settings,
  };
}

/** The position of the first `length` code units of `text` in a source (its first occurrence). */
function positionOf(
  source: { readonly path: string; readonly text: string },
  text: string,
  length = text.length,
): Position {
  const before = source.text.slice(0, source.text.indexOf(text)).split('\n');
  const start = { line: before.length, column: (before.at(-1) ?? '').length + 1 };
  return { file: source.path, start, end: { line: start.line, column: start.column + length } };
}

/** The frame for one mark in a file of one line: the line as shown, and the mark below it. */
function frame(text: string, marked: string): readonly string[] {
  const source = { path: '/project/a.yaml', text };
  const shown = renderDiagnostics([diagnostic({ position: positionOf(source, marked) })], [source], plain);
  return shown.split('\n').slice(2, 4);
}

const etl = {
  path: '/project/etl.yaml',
  text: [
    'imports: [steps/fetch]',
    'steps:',
    '  - name: a',
    '    command: "true"',
    '    depends: [c]',
    '  - name: b',
    '    depends: [a]',
    '  - name: c',
    '    depends: [b]',
    '    comand: curl -fsS $URL',
    '',
  ].join('\n'),
};
const fetch = { path: '/project/steps/fetch.yaml', text: 'steps:\n  - name: b\n    schedule: "* * * * 8"\n' };

const found: readonly Diagnostic[] = [
  diagnostic({
    code: 'cron',
    message: 'the day of the week of "* * * * 8" is not 0 to 7',
    position: positionOf(fetch, '"* * * * 8"'),
    importedFrom: [positionOf(etl, 'steps/fetch')],
  }),
  diagnostic({
    position: positionOf(etl, 'comand'),
    label: 'did you mean "command"?',
    help: 'a step takes name, command, script, executor, depends, ...   (wf schema steps)',
  }),
  diagnostic({
    code: 'cycle',
    message: 'the steps depend on each other: a -> c -> b -> a',
    position: positionOf(etl, 'c]', 1),
    label: 'a waits for c',
    related: [
      { position: positionOf(etl, 'b]', 1), message: 'c waits for b' },
      { position: positionOf(etl, 'a]', 1), message: 'b waits for a' },
    ],
  }),
  diagnostic({
    severity: 'warning',
    code: 'ignored-key',
    message: '"imports" is ignored',
    position: positionOf(etl, 'imports'),
  }),
];

test.each([
  ['diagnostics', plain],
  ['diagnostics-color', { ...plain, color: true }],
  ['diagnostics-ascii', { ...plain, unicode: false }],
])('problems of several files are printed as in goldens/%s.txt', (golden, options) => {
  expectGolden(golden, renderDiagnostics(found, [etl, fetch], options));
});

test('without problems the text is empty', () => {
  expect(renderDiagnostics([], [etl], plain)).toBe('');
});

test('a problem without a position has no frame and counts for its file', () => {
  const text = renderDiagnostics([diagnostic({ message: 'not UTF-8' })], [etl], plain);
  expect(text).toBe('error: not UTF-8\n\n1 error in 1 file\n');
});

test('a position in a file whose text is unknown is still printed', () => {
  const position = { file: '-', start: { line: 3, column: 9 }, end: { line: 3, column: 10 } };
  const text = renderDiagnostics([diagnostic({ message: 'odd', position: position, label: 'here' })], [], plain);
  expect(text).toBe('error: odd\n  ┌─ <stdin>:3:9 here\n\n1 error in 1 file\n');
});

describe('the mark is below its text', () => {
  test.each([
    ['after tabs', 'a:\t\tkey', 'key', ['1 │ a:      key', '  │         ^^^']],
    ['after wide characters', 'name: "日本" x', 'x', ['1 │ name: "日本" x', '  │              ^']],
    ['below wide characters', 'n: 日本', '日本', ['1 │ n: 日本', '  │    ^^^^']],
    ['after combined accents', 'e\u0301e\u0301 key', 'key', ['1 │ e\u0301e\u0301 key', '  │    ^^^']],
    ['after emoji', '👨‍👩‍👧👍 key', 'key', ['1 │ 👨‍👩‍👧👍 key', '  │      ^^^']],
    ['after control characters', '\u001b[31mkey', 'key', ['1 │ ^[[31mkey', '  │       ^^^']],
    ['below part of a character', 'x e\u0301 y', '\u0301', ['1 │ x e\u0301 y', '  │   ^']],
  ])('%s', (_what, line, marked, expected) => {
    expect(frame(line, marked)).toEqual(expected);
  });

  test('when the range is empty, at the end of the line or beyond the file', () => {
    const source = { path: '/project/a.yaml', text: 'key:\r\n' };
    const at = (line: number, column: number) => ({ line, column });
    const marks = [at(1, 5), at(1, 50), at(7, 3)].map((start) => {
      const position = { file: source.path, start, end: start };
      return renderDiagnostics([diagnostic({ position: position })], [source], plain)
        .split('\n')
        .slice(2, 4);
    });
    expect(marks).toEqual([
      ['1 │ key:', '  │     ^'],
      ['1 │ key:', '  │     ^'],
      ['7 │', '  │ ^'],
    ]);
  });

  test('when the range continues in the next lines', () => {
    const source = { path: '/project/a.yaml', text: 'a: |\n  b\n  c\n' };
    const position = { file: source.path, start: { line: 1, column: 4 }, end: { line: 3, column: 4 } };
    expect(
      renderDiagnostics([diagnostic({ position: position })], [source], plain)
        .split('\n')
        .slice(2, 4),
    ).toEqual(['1 │ a: |', '  │    ^']);
  });
});

describe('a long line', () => {
  test.each([
    ['is cut on both sides', `${'x'.repeat(5000)}KEY${'y'.repeat(5000)}`],
    ['is cut on the right', `KEY${'y'.repeat(5000)}`],
    ['is cut on the left', `${'x'.repeat(5000)}KEY`],
    ['of wide characters is cut between them', `${'日'.repeat(500)}KEY${'本'.repeat(500)}`],
  ])('%s, and the mark stays right', (_what, line) => {
    const [shown = '', below = ''] = frame(line, 'KEY');
    // A wide character has two code units here and two cells there: blanks below represent cells.
    const cells = shown.replaceAll(/[日本]/gu, 'ww');
    expect(cells.length).toBeLessThanOrEqual(104);
    expect(cells.slice(below.indexOf('^'), below.lastIndexOf('^') + 1)).toBe('KEY');
  });

  test('with a long mark shows its beginning', () => {
    const [shown = '', below = ''] = frame(`${'x'.repeat(300)}${'K'.repeat(300)}`, 'K'.repeat(300));
    expect([shown[below.indexOf('^')], shown[below.indexOf('^') - 1], below.length <= shown.length]).toEqual([
      'K',
      'x',
      true,
    ]);
  });
});

test('nothing in a file, a name or a message can control the terminal', () => {
  const nasty = 'x\u001b[2J\u0007\u009b1m\u202e';
  const source = { path: `/project/${nasty}.yaml`, text: `key: ${nasty}\n` };
  const position = positionOf(source, nasty);
  const bad = diagnostic({
    message: nasty,
    label: nasty,
    help: nasty,
    position: position,
    related: [{ position: position, message: nasty }],
    importedFrom: [position],
  });
  const text = renderDiagnostics([bad], [source], plain);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what must not be found
  expect(text).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
});

test('thousands of problems in one file are printed without splitting it each time', () => {
  const source = { path: '/project/a.yaml', text: 'key: 1\n'.repeat(5000) };
  const many = Array.from({ length: 5000 }, (_, index) => {
    const line = 5000 - index;
    return diagnostic({ position: { file: source.path, start: { line, column: 1 }, end: { line, column: 4 } } });
  });
  const lines = renderDiagnostics(many, [source], plain).trimEnd().split('\n');
  expect([lines[1], lines.at(-1)]).toEqual(
    ['     ┌─ a.yaml:1:1', '5000 errors in 1 file'].map((line) => line.replace(/^ {5}/, '  ')),
  );
});

test('the number of omitted problems comes last', () => {
  const source = { path: '/project/a.yaml', text: 'key: 1\n' };
  const unshown = { errors: 4, warnings: 3, files: [source.path, '/project/b.yaml'] };
  const more = diagnostic({ code: 'more-problems', message: '7 more problems are not shown', unshown });
  const shown = renderDiagnostics([more, diagnostic({ position: positionOf(source, 'key') })], [source], plain);
  expect(shown.split('\n').filter((line) => line.startsWith('error: '))).toEqual([
    'error: unknown key "comand" in step "fetch"',
    'error: 7 more problems are not shown',
  ]);
  expect(shown.trimEnd().split('\n').at(-1)).toBe('5 errors, 3 warnings in 2 files');
});

test('as JSON a diagnostic has all its keys', () => {
  const position = positionOf(etl, 'comand');
  expect([
    diagnosticJson(diagnostic({ position: position, label: 'did you mean "command"?' })),
    diagnosticJson(diagnostic()),
  ]).toEqual([
    {
      severity: 'error',
      code: 'unknown-key',
      message: 'unknown key "comand" in step "fetch"',
      file: etl.path,
      line: 10,
      column: 5,
      endLine: 10,
      endColumn: 11,
      label: 'did you mean "command"?',
      help: 'did you mean "command"?',
    },
    {
      severity: 'error',
      code: 'unknown-key',
      message: 'unknown key "comand" in step "fetch"',
      file: null,
      line: null,
      column: null,
      endLine: null,
      endColumn: null,
      label: null,
      help: null,
    },
  ]);
});

describe('as a command of GitHub Actions', () => {
  test('a diagnostic has its position and severity', () => {
    const position = positionOf(etl, 'comand');
    expect(
      githubAnnotation(diagnostic({ position: position, label: 'did you mean "command"?' }), { cwd: '/project' }),
    ).toBe(
      '::error file=etl.yaml,line=10,col=5,endLine=10,endColumn=10,title=unknown-key::' +
        'unknown key "comand" in step "fetch" (did you mean "command"?)',
    );
  });

  test('text cannot end the command or start another', () => {
    const position = { ...positionOf(etl, 'comand'), file: '/project/a,b:c%.yaml' };
    const related = [{ position: positionOf(etl, 'c]', 1), message: 'first' }];
    const annotation = githubAnnotation(
      diagnostic({ severity: 'warning', message: '100%\r\n::error::no', position: position, related, help: 'mend it' }),
    );
    expect(annotation).toBe(
      '::warning file=/project/a%2Cb%3Ac%25.yaml,line=10,col=5,endLine=10,endColumn=10,title=unknown-key::' +
        '100%25  ::error::no%0A/project/etl.yaml:5:15: first%0Ahelp: mend it',
    );
  });

  test('a problem without a position has none', () => {
    expect(githubAnnotation(diagnostic({ message: 'not UTF-8' }))).toBe('::error title=unknown-key::not UTF-8');
  });
});
