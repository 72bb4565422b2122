import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Where the files lie that the program hands out as they are, named by their paths below `assets/`. The build puts them
 * beside the program, so that no run has to read them as a part of it.
 */
const assets = join(import.meta.dirname, 'assets');

/** The text of a file below `assets/`. */
export function readAsset(name: string): string {
  return readFileSync(join(assets, name), 'utf8');
}

/** What `wf init` can begin with; the first is the usual one. */
export const templateNames = ['basic', 'cron-job', 'ci', 'etl', 'docker'] as const;

/** The name of a workflow to begin with. */
export type TemplateName = (typeof templateNames)[number];

/** A workflow to begin with; `FILE` in it stands for the file's name. */
export function readTemplate(name: TemplateName): string {
  return readAsset(`templates/${name}.yaml`);
}

/** What a template is, as its first line says. */
export function templateTitle(text: string): string {
  return text.split('\n', 1)[0]?.replace(/^# /, '') ?? '';
}
