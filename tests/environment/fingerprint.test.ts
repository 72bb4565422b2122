import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { differences, type Fingerprint } from '#core/fingerprint.ts';
import { inspectInputs } from '#environment/fingerprint.ts';
import fc from '../support/fast-check.ts';
import { step } from '../support/workflow.ts';

const FILES = 50;
const pathOf = (number: number) => `src/d${number % 7}/f${number}`;

/** What a program sees of a file. */
type Seen = { readonly text: string; readonly isExecutable: boolean } | { readonly link: string };

/** A tree of sources, and what it should be according to the edits. */
class Sources {
  readonly cwd = mkdtempSync(join(tmpdir(), 'wf-test-'));
  readonly seen = new Map<string, Seen>();
  readonly #hashes = new Map<string, string>();

  constructor() {
    for (let number = 0; number < FILES; number += 1) this.write(number, 'aa');
  }

  write(number: number, text: string): void {
    const path = join(this.cwd, pathOf(number));
    mkdirSync(dirname(path), { recursive: true });
    const before = this.seen.get(pathOf(number));
    if (before !== undefined && 'link' in before) rmSync(path);
    writeFileSync(path, text);
    const isExecutable = before !== undefined && 'text' in before && before.isExecutable;
    this.seen.set(pathOf(number), { text, isExecutable });
  }

  edit([kind, number, other]: Edit): void {
    const name = pathOf(number);
    const path = join(this.cwd, name);
    const before = this.seen.get(name);
    if (kind === 'write') this.write(number, ['aa', 'bb', 'longer'][other % 3] ?? '');
    if (kind === 'write' || before === undefined) return;
    if (kind === 'touch' && 'text' in before) utimesSync(path, other, other);
    else if (kind === 'quiet' && 'text' in before) {
      // Another content of the same size, with the time of the one before.
      const { atimeMs, mtimeMs } = lstatSync(path);
      this.write(number, 'cc');
      utimesSync(path, atimeMs / 1000, mtimeMs / 1000);
    } else if (kind === 'mode' && 'text' in before) {
      chmodSync(path, other % 2 === 0 ? 0o755 : 0o644);
      this.seen.set(name, { ...before, isExecutable: other % 2 === 0 });
    } else if (kind === 'link') {
      rmSync(path);
      const link = `../missing${other % 2}`;
      symlinkSync(link, path);
      this.seen.set(name, { link });
    } else if (kind === 'remove') {
      rmSync(path);
      this.seen.delete(name);
    } else if (kind === 'rename') {
      const target = pathOf(number + FILES);
      mkdirSync(dirname(join(this.cwd, target)), { recursive: true });
      renameSync(path, join(this.cwd, target));
      this.seen.set(target, before);
      this.seen.delete(name);
    }
  }

  async inspect(): Promise<Fingerprint> {
    const rule = { sources: ['src/**'], generates: [], method: 'checksum' } as const;
    const { entries } = await inspectInputs({
      workflow: { shell: 'sh', params: [] },
      step: step('build', { upToDate: rule }),
      rule,
      scope: () => undefined,
      env: {},
      args: [],
      cwd: this.cwd,
      key: Buffer.from('key'),
      hashes: {
        get: (stamp) => this.#hashes.get(inSeconds(stamp)),
        set: (stamp, hash) => this.#hashes.set(inSeconds(stamp), hash),
      },
      now: Date.now,
    });
    return entries;
  }

  snapshot(): string {
    return JSON.stringify([...this.seen].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }
}

/** A stamp as a file system has it whose clock counts in seconds. */
function inSeconds(stamp: string): string {
  return stamp.replace(/:(\d+):(\d+)$/, (_, mtime, ctime) => `:${mtime.slice(0, -9)}:${ctime.slice(0, -9)}`);
}

type Edit = readonly [
  kind: 'write' | 'touch' | 'quiet' | 'mode' | 'link' | 'remove' | 'rename',
  number: number,
  other: number,
];

const kinds = ['write', 'touch', 'quiet', 'mode', 'link', 'remove', 'rename'] as const;
const anyEdit = fc.tuple(fc.constantFrom(...kinds), fc.nat(FILES - 1), fc.nat(5)) satisfies fc.Arbitrary<Edit>;

describe('the inputs of a step', () => {
  it('are those of an earlier look exactly if a program would see the same files', { timeout: 300_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(anyEdit, { maxLength: 4 }), { minLength: 1, maxLength: 6 }),
        async (rounds) => {
          const sources = new Sources();
          try {
            const looks = [{ seen: sources.snapshot(), entries: await sources.inspect() }];
            for (const edits of rounds) {
              // Without a pause: a write has the time of the look before it, in seconds.
              for (const edit of edits) sources.edit(edit);
              looks.push({ seen: sources.snapshot(), entries: await sources.inspect() });
            }
            const last = looks.at(-1);
            for (const { seen, entries } of looks) {
              const changes = differences(entries, last?.entries ?? []).length;
              expect([seen === last?.seen, changes]).toEqual([changes === 0, changes]);
            }
          } finally {
            rmSync(sources.cwd, { recursive: true, force: true });
          }
        },
      ),
      { numRuns: 40 },
    );
  });
});
