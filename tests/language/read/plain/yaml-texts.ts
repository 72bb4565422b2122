import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../../..');

/** The YAML files of the repository and the YAML blocks of its pages. */
export function ownTexts(): string[] {
  const files = ['fixtures', 'docs', 'src/server/openapi'].flatMap((folder) => filesIn(join(root, folder)));
  const pages = [...filesIn(join(root, 'docs'), /\.md$/), readFileSync(join(root, 'README.md'), 'utf8')];
  return [...files, ...pages.flatMap(yamlBlocks)];
}

/** The texts of the files below a folder. */
export function filesIn(folder: string, name = /\.ya?ml$/): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && name.test(entry.name))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
}

function yamlBlocks(page: string): string[] {
  return [...page.matchAll(/^```ya?ml.*\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
}
