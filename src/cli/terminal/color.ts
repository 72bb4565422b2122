import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findPlaces, findProjectFile } from '#config/directories.ts';
import { WfError } from '#system/errors.ts';

/**
 * Whether to use colours: by the flag, then `WF_COLOR`, `FORCE_COLOR`, `NO_COLOR`, then the settings in files; null if none is
 * set. Needed before the arguments are parsed, since parsing errors are printed too.
 */
export async function findColor(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<boolean | null> {
  const own = await ownWords(argv);
  if (own.includes('--no-color')) return false;
  if (own.includes('--color')) return true;
  const forced = env['FORCE_COLOR'];
  const usual = forced !== undefined ? forced !== '0' && forced !== 'false' : env['NO_COLOR'] ? false : null;
  if (env['WF_COLOR']) return (await readColor(env)) ?? usual;
  return usual ?? (hasFiles(env) ? readColor(env) : null);
}

/** The arguments of `wf` itself: words after `--` are data, and words after the command of `wf exec` belong to it. */
async function ownWords(argv: readonly string[]): Promise<readonly string[]> {
  const words = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  return words[0] === 'exec' ? optionsOfExec(words) : words;
}

/** The words before the command of `wf exec`, without the values of options. */
async function optionsOfExec([, ...words]: readonly string[]): Promise<readonly string[]> {
  const { Command } = await import('commander');
  const { withExecOptions } = await import('../program/run-commands.ts');
  const { options } = withExecOptions(new Command());
  const takeValue = new Set(options.filter(({ required }) => required).map(({ long }) => long));
  const found: string[] = [];
  for (let at = 0; words[at]?.startsWith('-'); at++) {
    const word = words[at] ?? '';
    found.push(word);
    if (takeValue.has(word)) at++;
  }
  return found;
}

/** Most users have none of these files; checking for them loads nothing. */
function hasFiles(env: NodeJS.ProcessEnv): boolean {
  const { configDir } = findPlaces(env, process.cwd());
  const hasOwn = configDir !== null && existsSync(join(configDir, 'config.yaml'));
  return hasOwn || findProjectFile(process.cwd(), env) !== null;
}

/** An invalid setting is reported by the command that reads the settings, without colours. */
async function readColor(env: NodeJS.ProcessEnv): Promise<boolean | null> {
  const { openSettings } = await import('#config/config.ts');
  try {
    return openSettings({ env, cwd: process.cwd(), flags: {}, inProject: true }).read('color').value;
  } catch (error) {
    if (error instanceof WfError) return null;
    throw error;
  }
}
