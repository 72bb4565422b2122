import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { PublishedOutput } from '#core/workflow.ts';
import { publishedOutputs } from '#engine/attempt/output/published-outputs.ts';

const dir = mkdtempSync(join(tmpdir(), 'wf-outputs-'));
const file = join(dir, 'outputs');
afterAll(() => rmSync(dir, { recursive: true }));

const declared: readonly PublishedOutput[] = [
  { key: 'tag', value: { from: 'outputs', decode: 'text' } },
  { key: 'facts', value: { from: 'outputs', decode: 'json' } },
];

/** What a step publishes that wrote this into its file; null: it wrote no file. */
function read(content: string | Uint8Array | null, maxBytes = 1000) {
  if (content !== null) writeFileSync(file, content);
  const output = { text: () => ({ text: '' }) } as never;
  const scope = (name: string) => (name === 'WF_OUTPUT_FILE' ? file : undefined);
  return publishedOutputs(declared, { output, scope, cwd: dir, maxBytes });
}

describe('the file of outputs', () => {
  it.each([
    ['tag=v1\nfacts={"a": 1}\n', { tag: 'v1', facts: '{"a": 1}' }],
    ['facts<<E\n[1,\n2]\nE\n\ntag<<E\n a=b\n\nE', { facts: '[1,\n2]', tag: ' a=b\n' }],
    ['tag=<<E\r\nfacts=1\r\n', { tag: '<<E', facts: '1' }],
    ['tag=\nfacts=null', { tag: '', facts: 'null' }],
  ])('has the declared values: %j', async (content, outputs) => {
    expect(await read(content)).toEqual({ outputs });
    expect(existsSync(file)).toBe(false);
  });

  it.each([
    [null, 'output "tag" was not written to $WF_OUTPUT_FILE'],
    ['tag=1\n', 'output "facts" was not written to $WF_OUTPUT_FILE'],
    ['tag=1\nother=2\n', 'line 2 of $WF_OUTPUT_FILE: "other" is not declared under "outputs"'],
    ['tag=1\n\ntag=2\n', 'line 3 of $WF_OUTPUT_FILE: "tag" is written twice'],
    ['tag<<E\na\n', 'line 1 of $WF_OUTPUT_FILE: no line "E" ends "tag"'],
    ['a secret\n', 'line 1 of $WF_OUTPUT_FILE is no NAME=value'],
    ['tag=1\nfacts={a}\n', 'output "facts" is not JSON'],
    [Buffer.from([0x74, 0x61, 0x67, 0x3d, 0xff]), '$WF_OUTPUT_FILE is not UTF-8'],
    ['x'.repeat(1001), '$WF_OUTPUT_FILE has 1001 bytes; outputs can have 1000'],
  ])('has nothing else: %j', async (content, problem) => {
    expect(await read(content)).toEqual({ problem });
    expect(existsSync(file)).toBe(false);
  });
});
