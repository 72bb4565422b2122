import { readFileSync } from 'node:fs';
import type { SourceMap, SourceMapPayload } from 'node:module';
import { tryOr } from './errors.ts';

/** A location in a line of a V8 stack: the built file, line and column, from 1. */
const BUILT_POSITION = /^(\s+at (?:async )?(?:.*? \()?)(\/.+\.cjs):(\d+):(\d+)/gm;

/** The stack of an error with positions in the source instead of the built program; other values as text. */
export function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const maps = new Map<string, SourceMap | null>();
  // A thrower may have set these to anything.
  return String(error.stack ?? error.message).replace(BUILT_POSITION, (frame, before, file, line, column) => {
    if (!maps.has(file)) maps.set(file, readMap(`${file}.map`));
    const entry = maps.get(file)?.findEntry(Number(line) - 1, Number(column) - 1);
    if (entry === undefined || !('originalSource' in entry)) return frame;
    return `${before}${entry.originalSource}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  });
}

/** Returns null if there is no readable map: a report must not fail because of it. */
function readMap(path: string): SourceMap | null {
  return tryOr(null, () => {
    const { SourceMap } = process.getBuiltinModule('node:module');
    return new SourceMap(JSON.parse(readFileSync(path, 'utf8')) as SourceMapPayload);
  });
}
