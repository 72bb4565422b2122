import type { ListedPlaces, ListedSetting } from '#config/listed-settings.ts';
import type { Terminal } from '../reporters/reporter.ts';
import { createColors } from '../text/colors.ts';
import { escapeControls } from '../text/sanitize.ts';
import { renderTable } from '../text/table.ts';

type Look = Pick<Terminal, 'color'>;

/** Renders every setting with its value and source, followed by the directories. Ends with a line break. */
export function renderSettings(settings: readonly ListedSetting[], places: ListedPlaces, { color }: Look): string {
  const colors = createColors(color);
  const plain = (text: string) => ({ text: escapeControls(text), paint: (cell: string) => cell });
  const dim = (text: string) => ({ ...plain(text), paint: colors.dim });
  const rows = settings.map(({ key, value, secret, level, source }) => [
    { ...plain(key), paint: colors.cyan },
    isSet(value) ? plain(valueText(value, secret)) : dim('not set'),
    level === 'default' ? dim(source) : plain(source),
  ]);
  const placeRows = Object.entries(placeNames).map(([key, name]) => {
    const path = places[key as keyof typeof placeNames];
    const ignored = key === 'projectFile' ? places.projectFileIgnored : null;
    const remark = ignored === null ? '' : `, which is ignored: ${ignored}`;
    return [plain(name), path === null ? dim('none') : plain(path + remark)];
  });
  return `${renderTable(rows)}\n${renderTable(placeRows)}`;
}

/** Renders one setting and the ways to set it. Ends with a line break. */
export function renderSetting(setting: ListedSetting, { color }: Look): string {
  const colors = createColors(color);
  const { key, value, secret, source, description, type, flag, variable, inProject } = setting;
  const files = inProject ? `"${key}" in .wf.yaml or config.yaml` : `"${key}" in config.yaml`;
  const lines = [
    `${colors.cyan(key)}  ${isSet(value) ? valueText(value, secret) : 'not set'}  ${colors.dim(escapeControls(source))}`,
    `  ${description}`,
    `  ${colors.dim('set by')} ${[...(flag === null ? [] : [flag]), variable, files].join(', ')}`,
    `  ${colors.dim('type')} ${type.replaceAll('`', '')}`,
  ];
  return `${lines.join('\n')}\n`;
}

const placeNames: { readonly [K in Exclude<keyof ListedPlaces, 'projectFileIgnored'>]: string } = {
  config: 'configuration',
  workflows: 'workflows',
  runs: 'runs',
  cache: 'compiled code',
  userFile: 'your settings',
  projectFile: "the project's settings",
};

function isSet(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return value !== null && value !== '';
}

function valueText(value: unknown, secret: boolean): string {
  if (secret) return 'set';
  const text = Array.isArray(value) ? value.join(', ') : typeof value === 'string' ? value : JSON.stringify(value);
  return escapeControls(text);
}
