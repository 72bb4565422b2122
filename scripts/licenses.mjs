import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Licences that allow bundling a package with its licence text; any other fails the build until it was reviewed. */
const ACCEPTED = new Set([
  'MIT',
  'MIT-0',
  'ISC',
  '0BSD',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'Unlicense',
  '(MIT OR CC0-1.0)',
]);

const LICENSE_FILE = /^(licen[cs]e|copying|notice|3rd-party-licenses)/i;

/** Licence texts for packages that name a licence and an author but contain no text. */
const TEXTS = {
  'split-ca': `ISC License, Charles Bushong

Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted,
provided that the above copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL
IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT,
INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN
ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF
THIS SOFTWARE.`,
};

/** Names of the packages that own the files (paths from the project's root), sorted. */
export function packagesOf(files) {
  return [...new Set(files.map(packageFolder).filter((folder) => folder !== null))].map(packageName).sort();
}

/**
 * Name, version and licence text of every package that owns one of the files. Throws for a package without a licence
 * text, or with a licence that is not accepted.
 */
export function thirdPartyLicenses(root, files) {
  const folders = new Map();
  for (const file of files) {
    const folder = packageFolder(file);
    if (folder !== null) folders.set(folder, (folders.get(folder) ?? new Set([folder])).add(dirname(file)));
  }
  const entries = [...folders]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([folder, places]) => entry(root, folder, places));
  return `The program contains the following packages.\n\n${entries.join('\n')}`;
}

function entry(root, folder, places) {
  const manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  const { name, version } = manifest;
  const license = licenseOf(manifest);
  if (!ACCEPTED.has(license)) throw new Error(`${name}@${version}: the licence "${license}" is not accepted yet`);
  const files = [...places].flatMap((place) => licenseFiles(join(root, place)));
  const own = files.length === 0 ? [TEXTS[name] ?? ''] : files.map((file) => readFileSync(file, 'utf8').trim());
  const texts = [...own, ...noticesFor(name)];
  if (own.join('') === '') throw new Error(`${name}@${version} contains no licence text`);
  return `${'='.repeat(100)}\n${name} ${version} (${license})\n\n${texts.join('\n\n')}\n`;
}

/** Notices of code compiled into a package that the package does not mention. */
function noticesFor(name) {
  const file = join(import.meta.dirname, 'notices', `${name}.txt`);
  return existsSync(file) ? [readFileSync(file, 'utf8').trim()] : [];
}

/**
 * The bill of materials of the packages that own the files, in the format CycloneDX 1.6
 * (https://cyclonedx.org/docs/1.6/json/).
 */
export function billOfMaterials(root, files) {
  const read = (folder) => JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  const folders = [...new Set(files.map(packageFolder).filter((folder) => folder !== null))].sort();
  const { name, version } = read('.');
  const main = { type: 'application', 'bom-ref': `${name}@${version}`, name, version, purl: packageUrl(name, version) };
  const components = folders.map(read).map((manifest) => ({
    type: 'library',
    'bom-ref': `${manifest.name}@${manifest.version}`,
    name: manifest.name,
    version: manifest.version,
    licenses: [{ expression: licenseOf(manifest) }],
    purl: packageUrl(manifest.name, manifest.version),
  }));
  return { bomFormat: 'CycloneDX', specVersion: '1.6', version: 1, metadata: { component: main }, components };
}

function packageUrl(name, version) {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

/** Older packages use a list. */
function licenseOf({ license, licenses = [] }) {
  return license ?? licenses.map(({ type }) => type).join(' AND ');
}

function licenseFiles(folder) {
  const files = readdirSync(folder, { withFileTypes: true }).filter(
    (file) => file.isFile() && LICENSE_FILE.test(file.name),
  );
  return files.map((file) => join(folder, file.name)).sort();
}

/** The folder of the package that owns a file; null for a file of this project. */
function packageFolder(file) {
  return /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? null;
}

function packageName(folder) {
  return folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
}
