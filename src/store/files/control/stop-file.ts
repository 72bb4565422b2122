import { readFileSync } from 'node:fs';
import type { StopRequest } from '../../store.ts';
import { replacePrivate } from '../disk/private-files.ts';
import { seal, unseal } from '../disk/sealed.ts';
import { stopPath } from '../run-directory.ts';

/** Replaces the previous request; atomic, and on disk when it returns. */
export function writeStop(directory: string, request: StopRequest): void {
  const path = stopPath(directory);
  const draft = `${path}.${process.pid}-${Math.random().toString(36).slice(2)}`;
  replacePrivate(path, `${seal(JSON.stringify(request))}\n`, draft);
}

/** The last request for the run in a directory; null without a readable one. */
export function readStop(directory: string): StopRequest | null {
  try {
    return (unseal(readFileSync(stopPath(directory)).subarray(0, -1)) as StopRequest | undefined) ?? null;
  } catch {
    return null;
  }
}
