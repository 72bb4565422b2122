import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { diagnosticCodes } from '#language/codes.ts';
import type { Diagnostic, Position } from '#language/diagnostic.ts';
import { loadWorkflow } from '#language/load.ts';

const root = fileURLToPath(new URL('../../fixtures/invalid', import.meta.url));
const cases = readdirSync(root).sort();
const updating = process.env.WF_UPDATE_GOLDENS === '1';

/** Variables of the environment: `FROM_OUTSIDE`, and those that cases about something else use. */
function checksOf(name: string): { readonly environment?: readonly string[] } {
  return ['unset-variable', 'unchecked-lines'].includes(name) ? { environment: ['FROM_OUTSIDE'] } : {};
}

/** The diagnostics of a case, with paths relative to its folder. */
function diagnosticsOf(name: string): readonly Diagnostic[] {
  const dir = join(root, name);
  const runTargets = () => ({
    exists: (name: string) => name === 'other',
    names: () => ['nightly'],
    nearby: (name: string) => (name === 'elsewhere' ? '/dags/etl/elsewhere.yaml' : null),
  });
  const request = { file: join(dir, 'workflow.yaml'), base: join(dir, 'base.yaml'), runTargets, ...checksOf(name) };
  const { diagnostics } = loadWorkflow(request);
  const position = (at: Position): Position => ({ ...at, file: relative(dir, at.file) });
  return diagnostics.map((diagnostic) => ({
    ...diagnostic,
    position: diagnostic.position && position(diagnostic.position),
    related: diagnostic.related.map((entry) => ({ ...entry, position: position(entry.position) })),
    importedFrom: diagnostic.importedFrom.map(position),
  }));
}

function golden(name: string): readonly Diagnostic[] {
  const path = join(root, name, 'expected.json');
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : [];
}

describe('an invalid file gets all its diagnostics', () => {
  it.each(cases)('%s', (name) => {
    const diagnostics = diagnosticsOf(name);
    if (updating) writeFileSync(join(root, name, 'expected.json'), `${JSON.stringify(diagnostics, null, 2)}\n`);
    expect(diagnostics.length).toBeGreaterThan(0);
    expect(diagnostics).toEqual(golden(name));
  });
});

describe('every code', () => {
  const made = new Map<string, string>([
    ['file-too-large', `name: ${'x'.repeat(1024 * 1024)}\n`],
    ['more-problems', `steps:\n${'  - {name: a, frobnicate: 1}\n'.repeat(200)}`],
  ]);
  const dir = mkdtempSync(join(tmpdir(), 'wf-invalid-'));
  afterAll(() => rmSync(dir, { recursive: true }));

  it.each([...made])('%s is reported for a file made for it', (code, text) => {
    const file = join(dir, 'workflow.yaml');
    writeFileSync(file, text);
    const { diagnostics } = loadWorkflow({ file });
    expect(diagnostics.map((diagnostic) => diagnostic.code)).toContain(code);
    expect(diagnostics.length).toBeLessThanOrEqual(101);
  });

  it.each([
    ['errors', 150, 3, { errors: 50, warnings: 3 }, 'error'],
    ['warnings', 1, 120, { errors: 0, warnings: 21 }, 'warning'],
  ] as const)('more %s than are shown are counted', (_, errors, warnings, counts, severity) => {
    const file = join(dir, 'many.yaml');
    const steps = (count: number, keys: string) =>
      Array.from({ length: count }, (__, index) => `  - {name: "${keys} ${index}", ${keys}}\n`).join('');
    writeFileSync(
      file,
      `type: graph\nsteps:\n${steps(warnings, 'run: a, args: [x]')}${steps(errors, 'command: a, frobnicate: 1')}`,
    );
    const more = loadWorkflow({ file }).diagnostics.at(-1);
    expect(more).toMatchObject({ code: 'more-problems', severity, unshown: { ...counts, files: [file] } });
  });

  it('of a file that is too large comes with a way to split it', () => {
    const { diagnostics } = loadWorkflow({ text: `#${'x'.repeat(1024 * 1024)}`, file: null, dir });
    expect(diagnostics).toMatchObject([
      {
        message: 'the file is larger than 1 MiB, the limit for workflow files',
        help: expect.stringContaining('"imports"'),
      },
    ]);
  });

  it('has a case', () => {
    const seen = new Set([...made.keys(), ...cases.flatMap((name) => golden(name).map(({ code }) => code))]);
    expect(diagnosticCodes.filter((code) => !seen.has(code))).toEqual([]);
    expect([...seen].filter((code) => !diagnosticCodes.some((known) => known === code))).toEqual([]);
  });
});
