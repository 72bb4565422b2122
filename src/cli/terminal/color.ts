import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { findPlaces } from '../../config/places.ts';
import { findProjectFile } from '../../config/project-file.ts';
import { WfError } from '../../errors.ts';
import { withExecOptions } from '../program/run-commands.ts';

/**
 * Whether there are colours: the flag, then `WF_COLOR`, `FORCE_COLOR`, `NO_COLOR`, then the settings in files; null where
 * none of them says. It is needed before the arguments are parsed, since errors of the parsing are printed too.
 */
export async function findColor(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<boolean | null> {
  const own = ownWords(argv);
  if (own.includes('--no-color')) return false;
  if (own.includes('--color')) return true;
  const forced = env['FORCE_COLOR'];
  const usual = forced !== undefined ? forced !== '0' && forced !== 'false' : env['NO_COLOR'] ? false : null;
  if (env['WF_COLOR']) return (await readColor(env)) ?? usual;
  return usual ?? (hasFiles(env) ? readColor(env) : null);
}

/** The words that are for `wf`: what comes after `--` is data, and after the command of `wf exec` all is the command's. */
function ownWords(argv: readonly string[]): readonly string[] {
  const words = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  return words[0] === 'exec' ? optionsOfExec(words) : words;
}

/** What stands before the word that `wf exec` is to start, without the values of options. */
function optionsOfExec([, ...words]: readonly string[]): readonly string[] {
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

/** Most people have none of these files: nothing is loaded to find that out. */
function hasFiles(env: NodeJS.ProcessEnv): boolean {
  const { configDir } = findPlaces(env, process.cwd());
  const hasOwn = configDir !== null && existsSync(join(configDir, 'config.yaml'));
  return hasOwn || findProjectFile(process.cwd(), env) !== null;
}

/** A setting that makes no sense is told by the command that asks for its settings, without colours. */
async function readColor(env: NodeJS.ProcessEnv): Promise<boolean | null> {
  const { openSettings } = await import('../../config/open-settings.ts');
  try {
    return openSettings({ env, cwd: process.cwd(), flags: {}, inProject: true }).read('color').value;
  } catch (error) {
    if (error instanceof WfError) return null;
    throw error;
  }
}
