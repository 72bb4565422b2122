import { existsSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Takes the script `prepare` out of package.json while npm packs the project (`strip`), and puts it back (`restore`). npm needs
 * it to install from a repository, and warns about it for every installed package. The file keeps its time, which tells
 * whether the build is current.
 */

const root = join(import.meta.dirname, '..');
const file = join(root, 'package.json');
const kept = join(root, 'node_modules/.package.json.packing');

function replace(text) {
  const { atime, mtime } = statSync(file);
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text);
  utimesSync(draft, atime, mtime);
  renameSync(draft, file);
}

function strip() {
  const text = readFileSync(file, 'utf8');
  const stripped = text.replace(/,\s*"prepare": "[^"]*"(?=\s*\})/, '');
  // Another process may be packing.
  if (stripped === text) return;
  writeFileSync(kept, text);
  replace(stripped);
}

function restore() {
  if (!existsSync(kept)) return;
  replace(readFileSync(kept, 'utf8'));
  rmSync(kept, { force: true });
}

if (process.argv[2] === 'strip') strip();
else restore();
