import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { didYouMean, nearNames } from '#language/near-names.ts';
import { canonicalKey } from '#language/read/canonical-key.ts';
import { decode } from '#language/read/decode.ts';
import { fileProblem, placesOf } from '#language/read/file-problem.ts';
import { type MapEntry, type MapNode, type Node, textOf } from '#language/read/node.ts';
import { parse } from '#language/read/parse.ts';
import { messageOf, WfError } from '#system/errors.ts';
import { readRegular } from '#system/regular-file.ts';

/** One key of a file and its value. */
export type Entry = {
  readonly key: string;
  /** As plain data; null if the value is empty. */
  readonly value: unknown;
  /** The entries of a map; empty if the value is empty, null for any other value. */
  readonly entries: readonly Entry[] | null;
  /** The directory that relative paths are resolved against. */
  readonly base: string;
  /** From 1; 0 for a value that is not from a file. */
  readonly line: number;
  /** For messages: `/home/me/.config/wf/config.yaml:3:5`. */
  readonly place: string;
};

/**
 * The entries of a configuration file; null if there is no file. Hostile YAML is refused as in workflow files. Throws
 * a `WfError` `usage` for a file that cannot be read or is not a map, and for a duplicate key.
 */
export function readConfigFile(path: string): readonly Entry[] | null {
  const bytes = readIfThere(path);
  if (bytes === null) return null;
  const { source, problems } = decode(path, bytes);
  const { document, problems: found } = problems.length > 0 ? { document: null, problems } : parse(source);
  const [problem] = found;
  if (problem !== undefined) throw fileProblem(problem);
  if (document === null || document.contents === null) return [];
  const placeAt = placesOf(source);
  const entries = entriesOf(document.contents, { placeAt, base: dirname(path) });
  if (entries !== null) return entries;
  throw new WfError('usage', `${placeAt(document.contents.start).text}: the configuration must be a map`);
}

/** The error for an unknown key, with suggestions. */
export function unknownKey({ key, place }: Pick<Entry, 'key' | 'place'>, known: readonly string[]): WfError {
  const help = didYouMean(nearNames(key, known)) || `known are ${known.join(', ')}`;
  return new WfError('usage', `${place}: unknown key "${key}"`, { help });
}

type Reading = {
  readonly placeAt: ReturnType<typeof placesOf>;
  readonly base: string;
};

function entriesOf(node: Node | null, reading: Reading): readonly Entry[] | null {
  if (node === null || (node.kind === 'scalar' && node.value === null)) return [];
  if (node.kind !== 'map') return null;
  const entries = node.entries.map((entry) => entryOf(entry, reading));
  const seen = new Set<string>();
  for (const { key, place } of entries) {
    if (seen.has(canonicalKey(key))) throw new WfError('usage', `${place}: duplicate key "${key}"`);
    seen.add(canonicalKey(key));
  }
  return entries;
}

function entryOf({ key, value }: MapEntry, reading: Reading): Entry {
  const { line, text: place } = reading.placeAt(key?.start ?? 0);
  if (key?.kind !== 'scalar') throw new WfError('usage', `${place}: a key must be text`);
  return {
    key: textOf(key),
    value: plainValue(value, place),
    entries: entriesOf(value, reading),
    base: reading.base,
    line,
    place,
  };
}

function plainValue(node: Node | null, place: string): unknown {
  if (node === null) return null;
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'list') return node.items.map((item) => plainValue(item, place));
  if (node.kind === 'map') return plainMap(node, place);
  throw new WfError('usage', `${place}: the value cannot be read`, { help: 'write it without aliases' });
}

function plainMap({ entries }: MapNode, place: string): unknown {
  return Object.fromEntries(
    entries.map(({ key, value }) => {
      if (key?.kind !== 'scalar') throw new WfError('usage', `${place}: a key must be text`);
      return [textOf(key), plainValue(value, place)];
    }),
  );
}

/** Only regular files are read: a pipe or a device in a project must not block a command. */
function readIfThere(path: string): Uint8Array | null {
  try {
    return readRegular(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    if (code === 'ENOTDIR') throw outsideDirectory(path);
    throw new WfError('usage', `cannot read "${path}": ${messageOf(error)}`);
  }
}

/** Only the user's own directories can be wrong in this way: a project's file was found before it is read. */
function outsideDirectory(path: string): WfError {
  let part = dirname(path);
  while (!existsSync(part)) part = dirname(part);
  return new WfError('usage', `cannot read "${path}": "${part}" is not a directory`, {
    help: 'set WF_HOME to a directory; it need not exist yet',
  });
}
