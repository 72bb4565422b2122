import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The files of the jq thread for `dist/jq-thread/`: the thread itself, and jq from its package without the two thirds
 * of `jq.wasm` that are for debugging.
 */
export function jqFiles(root, outDir) {
  const worker = readFileSync(join(root, 'src/executors/jq/jq-thread/worker.cjs'), 'utf8');
  const here = worker.replace("require.resolve('jq-web')", "require.resolve('./jq.js')");
  if (here === worker) throw new Error('src/executors/jq/jq-thread/worker.cjs does not say where jq-web is');
  const read = (name) => readFileSync(join(dirname(fileURLToPath(import.meta.resolve('jq-web'))), name));
  return [
    { path: join(outDir, 'jq-thread/worker.cjs'), contents: here, inputs: [] },
    { path: join(outDir, 'jq-thread/jq.js'), contents: read('jq.js'), inputs: ['node_modules/jq-web/jq.js'] },
    { path: join(outDir, 'jq-thread/jq.wasm'), contents: withoutCustomSections(read('jq.wasm')), inputs: [] },
  ];
}

/** A WebAssembly module without custom sections (kind 0), which hold names and debugging data. */
function withoutCustomSections(wasm) {
  const kept = [wasm.subarray(0, 8)];
  for (let at = 8; at < wasm.length; ) {
    const size = readSize(wasm, at + 1);
    const end = size.end + size.value;
    if (wasm[at] !== 0) kept.push(wasm.subarray(at, end));
    at = end;
  }
  return Buffer.concat(kept);
}

/** Reads an unsigned LEB128; returns the value and the position after it. */
function readSize(wasm, start) {
  let value = 0;
  for (let at = start, shift = 0; ; at++, shift += 7) {
    value += (wasm[at] & 0x7f) * 2 ** shift;
    if (wasm[at] < 0x80) return { value, end: at + 1 };
  }
}
