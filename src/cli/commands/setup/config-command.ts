import { type ListedDirectories, type ListedSetting, listDirectories, listSettings } from '#config/part-settings.ts';
import { canonicalKey } from '#language/schema/schema-type.ts';
import { createColors, renderTable, type Terminal } from '#render/terminal.ts';
import { escapeControls } from '#render/text.ts';
import { WfError } from '#system/errors.ts';
import { didYouMean, nearNames } from '#system/near-names.ts';
import type { CommonOptions } from '../../program/add-command.ts';
import { configFor } from '../../reference.ts';
import type { Console } from '../../terminal/console.ts';

/** The options of `wf config`; `key` is null for every setting. */
type ConfigOptions = CommonOptions & { readonly key: string | null; readonly json?: true };

/** Prints settings with their values and the source of each value. */
export function configCommand({ key, json, ...flags }: ConfigOptions, { out, err, outTerminal, env }: Console): void {
  const config = configFor(flags);
  const settings = listSettings(config);
  for (const problem of mistypedVariables(settings, env)) err.write(`wf: ${problem}\n`);
  if (key === null) {
    const directories = listDirectories(config, env);
    out.write(json ? toJson({ settings, places: directories }) : renderSettings(settings, directories, outTerminal));
    return;
  }
  const found = settings.find((setting) => canonicalKey(setting.key) === canonicalKey(key));
  if (found === undefined) {
    const keys = settings.map((setting) => setting.key);
    const help = didYouMean(nearNames(key, keys)) || 'wf config lists them all';
    throw new WfError('usage', `there is no setting "${key}"`, { help });
  }
  out.write(json ? toJson(found) : renderSetting(found, outTerminal));
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Warns only of names close to a setting, since other programs may use variables that begin with `WF_`. */
function mistypedVariables(settings: readonly ListedSetting[], env: Console['env']): readonly string[] {
  const known = [...settings.map(({ variable }) => variable), ...otherVariables];
  return Object.keys(env)
    .filter((name) => name.startsWith('WF_') && !known.includes(name))
    .flatMap((name) => {
      const near = nearNames(name, known);
      return near.length === 0 ? [] : [`the variable ${name} sets nothing: ${didYouMean(near.slice(0, 1))}`];
    });
}

/** Variables of `wf` that are not settings: its home, and the variables of steps. */
const otherVariables = ['WF_HOME', 'WF_RUN_ID', 'WF_WORKFLOW', 'WF_STEP', 'WF_ATTEMPT', 'WF_LOG_FILE', 'WF_STATUS'];

type Look = Pick<Terminal, 'color'>;

/** Renders every setting with its value and source, followed by the directories. Ends with a line break. */
function renderSettings(settings: readonly ListedSetting[], directories: ListedDirectories, { color }: Look): string {
  const colors = createColors(color);
  const plain = (text: string) => ({ text: escapeControls(text), paint: (cell: string) => cell });
  const dim = (text: string) => ({ ...plain(text), paint: colors.dim });
  const rows = settings.map(({ key, value, secret, level, source }) => [
    { ...plain(key), paint: colors.cyan },
    isSet(value) ? plain(valueText(value, secret)) : dim('not set'),
    level === 'default' ? dim(source) : plain(source),
  ]);
  const directoryRows = Object.entries(directoryNames).map(([key, name]) => {
    const path = directories[key as keyof typeof directoryNames];
    const ignored = key === 'projectFile' ? directories.projectFileIgnored : null;
    const remark = ignored === null ? '' : `, which is ignored: ${ignored}`;
    return [plain(name), path === null ? dim('none') : plain(path + remark)];
  });
  return `${renderTable(rows)}\n${renderTable(directoryRows)}`;
}

/** Renders one setting and the ways to set it. Ends with a line break. */
function renderSetting(setting: ListedSetting, { color }: Look): string {
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

const directoryNames: { readonly [K in Exclude<keyof ListedDirectories, 'projectFileIgnored'>]: string } = {
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
