import { readAsset } from './asset.ts';

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
