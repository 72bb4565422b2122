import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The project's own folder. */
export const root = resolve(import.meta.dirname, '../..');

const folders = ['docs', 'docs/contributing', 'docs/decisions', 'docs/guide', 'docs/reference'];

/** Every page that people read, by its path from the project's folder. */
export const pages: readonly string[] = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'],
  ...folders.flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  ),
];

/** The text of a page. */
export function textOf(page: string): string {
  return readFileSync(join(root, page), 'utf8');
}
