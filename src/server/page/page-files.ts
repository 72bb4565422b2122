import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { WfError } from '#system/errors.ts';
import type { Encoding } from '../reply/accept.ts';
import { entityTag } from '../reply/send.ts';

/** The encoding of a file: none, or a compression made by the build. */
export type PageEncoding = Encoding;

/** One file of the page, in each encoding that the build made. */
export type PageFile = {
  readonly type: string;
  readonly bodies: Readonly<Partial<Record<PageEncoding, { readonly bytes: Buffer; readonly tag: string }>>>;
};

/** The built page: its document, and the files that the document loads, by name. */
export type PageFiles = {
  readonly index: string;
  readonly assets: ReadonlyMap<string, PageFile>;
};

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const suffixes: readonly (readonly [PageEncoding, string])[] = [
  ['identity', ''],
  ['gzip', '.gz'],
  ['br', '.br'],
];

/**
 * Reads all files of the built page, so that a daemon serves one version while an update replaces the files. Throws a
 * `WfError` `usage` if the page was not built.
 */
export function readPageFiles(folder: string): PageFiles {
  try {
    const names = readdirSync(join(folder, 'assets'));
    const plain = names.filter((name) => Object.hasOwn(types, extname(name)));
    return {
      index: readFileSync(join(folder, 'index.html'), 'utf8'),
      assets: new Map(plain.map((name) => [name, readPageFile(join(folder, 'assets'), name, names)])),
    };
  } catch (error) {
    throw new WfError('usage', `the web page is missing in ${folder}`, {
      cause: error,
      help: 'install wf again, or run "npm run build" in a checkout',
    });
  }
}

function readPageFile(folder: string, name: string, names: readonly string[]): PageFile {
  const made = suffixes.filter(([, suffix]) => names.includes(name + suffix));
  const bodies = made.map(([encoding, suffix]) => {
    const bytes = readFileSync(join(folder, name + suffix));
    return [encoding, { bytes, tag: entityTag(bytes) }] as const;
  });
  return { type: types[extname(name)] ?? '', bodies: Object.fromEntries(bodies) };
}
