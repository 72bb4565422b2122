import { type ListedSetting, listPlaces, listSettings } from '#config/listed-settings.ts';
import { didYouMean, nearNames } from '#language/near-names.ts';
import { canonicalKey } from '#language/schema/schema-type.ts';
import { renderSetting, renderSettings } from '#render/views/settings-table.ts';
import { WfError } from '#system/errors.ts';
import { exitCodes } from '../../exit-codes.ts';
import type { CommonOptions } from '../../program/add-command.ts';
import { configFor } from '../../reference.ts';
import type { Console } from '../../terminal/console.ts';

/** The options of `wf config`; `key` is null for every setting. */
export type ConfigOptions = CommonOptions & { readonly key: string | null; readonly json?: true };

/** Prints settings with their values and the source of each value. */
export function configCommand({ key, json, ...flags }: ConfigOptions, { out, err, outTerminal, env }: Console): number {
  const config = configFor(flags);
  const settings = listSettings(config);
  for (const problem of mistypedVariables(settings, env)) err.write(`wf: ${problem}\n`);
  if (key === null) {
    const places = listPlaces(config, env);
    out.write(json ? toJson({ settings, places }) : renderSettings(settings, places, outTerminal));
    return exitCodes.succeeded;
  }
  const found = settings.find((setting) => canonicalKey(setting.key) === canonicalKey(key));
  if (found === undefined) {
    const near = nearNames(
      key,
      settings.map((setting) => setting.key),
    );
    const help = didYouMean(near) || 'wf config lists them all';
    throw new WfError('usage', `there is no setting "${key}"`, { help });
  }
  out.write(json ? toJson(found) : renderSetting(found, outTerminal));
  return exitCodes.succeeded;
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
