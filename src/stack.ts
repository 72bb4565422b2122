import { existsSync, readFileSync } from 'node:fs';
import type { SourceMap, SourceMapPayload } from 'node:module';

/** The place in a line of a stack, as V8 writes it: the built file, the line and the column, from 1 on. */
const builtPlace = /^(\s+at (?:async )?(?:.*? \()?)(\/.+\.cjs):(\d+):(\d+)/gm;

/**
 * What a bug is reported with: the stack of an error, in which places of the built program are those of its source. Anything
 * else that was thrown, as text.
 */
export function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const maps = new Map<string, SourceMap | null>();
  // Whoever throws may have put anything there.
  return String(error.stack ?? error.message).replace(builtPlace, (frame, before, file, line, column) => {
    if (!maps.has(file)) maps.set(file, readMap(`${file}.map`));
    const entry = maps.get(file)?.findEntry(Number(line) - 1, Number(column) - 1);
    if (entry === undefined || !('originalSource' in entry)) return frame;
    return `${before}${entry.originalSource}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  });
}

/** Null when there is none, or none that can be read: a report must not fail over it. */
function readMap(path: string): SourceMap | null {
  if (!existsSync(path)) return null;
  try {
    const { SourceMap } = process.getBuiltinModule('node:module');
    return new SourceMap(JSON.parse(readFileSync(path, 'utf8')) as SourceMapPayload);
  } catch {
    return null;
  }
}
