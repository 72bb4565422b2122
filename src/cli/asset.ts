import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The directory of files that the program hands out unchanged; the build puts them beside the program. */
const assets = join(import.meta.dirname, 'assets');

/** The text of a file below `assets/`. */
export function readAsset(name: string): string {
  return readFileSync(join(assets, name), 'utf8');
}

/** The templates of `wf init`; the first is the default. */
export const templateNames = ['basic', 'cron-job', 'ci', 'etl', 'docker'] as const;

/** The name of a template. */
export type TemplateName = (typeof templateNames)[number];

/** Returns the text of a template, with `FILE` in place of the file's name. */
export function readTemplate(name: TemplateName): string {
  return readAsset(`templates/${name}.yaml`);
}

/** Returns the title of a template from its first line. */
export function templateTitle(text: string): string {
  return text.split('\n', 1)[0]?.replace(/^# /, '') ?? '';
}
