import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join } from 'node:path';
import { root } from './launch.ts';

/** A function as V8 reports it: offsets in the text, and whether it was called. */
type Range = { readonly startOffset: number; readonly endOffset: number; readonly count: number };
type Script = {
  readonly url: string;
  readonly functions: readonly { readonly functionName: string; readonly ranges: readonly [Range, ...Range[]] }[];
};

/** The chunks of the program, as `scripts/pack.mjs` names their functions. */
const chunkNames = /^(?:main|[a-z-]+-[A-Z0-9]{8})$/;

/** The sources of all modules that a command evaluates in `dist/wf.cjs`. `folder`: where V8 leaves its report. */
export function sourcesEvaluatedBy(args: readonly string[], folder: string, env: Readonly<Record<string, string>>) {
  const launcher = join(root, 'bin/wf.js');
  execFileSync(process.execPath, [launcher, ...args], {
    env: { ...process.env, ...env, NODE_V8_COVERAGE: folder },
    stdio: 'pipe',
  });
  const [file = ''] = readdirSync(folder);
  const { result }: { readonly result: readonly Script[] } = JSON.parse(readFileSync(join(folder, file), 'utf8'));
  const functions = result.find(({ url }) => url.endsWith('/dist/wf.cjs'))?.functions ?? [];
  const isIn = (inner: Range, outer: Range) =>
    inner.startOffset > outer.startOffset && inner.endOffset < outer.endOffset;
  const evaluated = functions.filter(
    ({ functionName, ranges: [{ count }] }) => count > 0 && chunkNames.test(functionName),
  );
  const inside = functions.filter(({ ranges: [own] }) => evaluated.some(({ ranges: [chunk] }) => isIn(own, chunk)));
  const sourceAt = createLookUp();
  return new Set(inside.map(({ ranges: [{ startOffset }] }) => sourceAt(startOffset)));
}

/** Finds the source of an offset in the program, to which the launcher adds the head of a function. */
function createLookUp(): (offset: number) => string {
  const head = '(function (exports, require, module, __filename, __dirname) {'.length;
  const text = readFileSync(join(root, 'dist/wf.cjs'), 'latin1');
  const map = new SourceMap(JSON.parse(readFileSync(join(root, 'dist/wf.cjs.map'), 'utf8')));
  return (offset) => {
    const before = text.slice(0, offset - head + 1);
    const line = before.split('\n').length - 1;
    const entry = map.findEntry(line, before.length - before.lastIndexOf('\n') - 1);
    return 'originalSource' in entry ? entry.originalSource.replace(/^(?:[.][.]\/)+/, '') : '';
  };
}
