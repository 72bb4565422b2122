import { renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { removeFile } from '#system/files.ts';
import type { LockStore } from '../../store.ts';
import { ifThere, makePrivateDirectory, readSealed, sealedLine, storing, writePrivate } from '../disk/private-files.ts';

const MINUTE_MS = 60_000;

/** The times of the last uses of a lock, in milliseconds since this boot of the machine, which no clock setting changes. */
type Uses = { readonly boot: string | null; readonly times: readonly number[] };

/**
 * Waits until fewer than `perMinute` uses are less than a minute old, and adds one; false if the wait was stopped. For one
 * caller at a time. Rejects with a `WfError` `storage`.
 */
export async function takeToken(
  file: string,
  { perMinute, boot }: { readonly perMinute: number; readonly boot: string | null },
  { stop, blocked }: Parameters<LockStore['acquire']>[1],
): Promise<boolean> {
  for (let isFirst = true; ; isFirst = false) {
    const now = Math.round(Number(process.hrtime.bigint() / 1_000_000n));
    const recent = storing('read', file, () => usesIn(file, boot)).filter((at) => at <= now && now - at < MINUTE_MS);
    // The setting may have changed, so there may be more.
    const next = recent.at(-perMinute);
    if (next === undefined) {
      storing('write', file, () => write(file, { boot, times: [...recent, now] }));
      return true;
    }
    if (isFirst) blocked(null);
    await pause(next + MINUTE_MS - now, stop);
    if (stop.aborted) return false;
  }
}

/** None of another boot, and none in a damaged file. */
function usesIn(file: string, boot: string | null): readonly number[] {
  const uses = ifThere(() => readSealed(file)) as Uses | null | undefined;
  return uses?.boot === boot ? uses.times : [];
}

function write(file: string, uses: Uses): void {
  makePrivateDirectory(dirname(file));
  const draft = `${file}=new`;
  removeFile(draft);
  writePrivate(draft, sealedLine(uses));
  renameSync(draft, file);
}

function pause(ms: number, stop: Parameters<LockStore['acquire']>[1]['stop']): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      forget();
      resolve();
    };
    const timer = setTimeout(end, ms);
    let forget = () => {};
    forget = stop.onAbort(end);
  });
}
