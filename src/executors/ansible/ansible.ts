import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { failed } from '#core/run/outcome.ts';
import type { Outcome } from '#core/run/run.ts';
import { literalText } from '#core/words/interpolate.ts';
import type { Json, JsonObject } from '#core/workflow.ts';
import { messageOf } from '#system/errors.ts';
import { expandHome, removeIfPossible } from '#system/files.ts';
import type { Attempt, Executor } from '../executor.ts';
import {
  runTool,
  sortedEntries,
  stepWords,
  stoppedByInterrupt,
  type ToolSettings,
  toolSettings,
  wantsColor,
} from '../tool.ts';

const INSTALL = 'install Ansible (package "ansible-core", or "pipx install ansible-core"), or name it with "binary"';

/** Runs a playbook. A stop sends SIGINT, after which Ansible removes its temporary files. */
export const executor: Executor = { run: (config, attempt) => runPlaybook(config, stoppedByInterrupt(attempt)) };

async function runPlaybook(config: JsonObject, attempt: Attempt): Promise<Outcome> {
  const settings = toolSettings(config, attempt);
  const words = stepWords(attempt);
  if (words === null) return failed('the "command" of an ansible step holds additional arguments, not shell code');
  const playbook = settings.text('playbook');
  if (playbook === null) return failed('the ansible executor needs "playbook"');
  const forks = settings.text('forks');
  if (forks !== null && !/^[1-9]\d*$/.test(forks)) {
    return failed(`"forks: ${String(config.forks)}" must be a whole number from 1, got ${JSON.stringify(forks)}`);
  }
  const variables = variablesFile(config.extraVars, attempt);
  if (typeof variables === 'object' && variables !== null) return failed(variables.problem);
  try {
    const options = [...playbookOptions(settings, attempt), ...(variables === null ? [] : ['-e', `@${variables}`])];
    const color = wantsColor(attempt.env) ? { ANSIBLE_FORCE_COLOR: '1' } : {};
    const env = { ...color, ...attempt.env, ...Object.fromEntries(settings.entries('env')) };
    const binary = expandHome(settings.text('binary') ?? 'ansible-playbook', attempt.env['HOME']);
    const argv = [binary, ...options, ...settings.texts('args'), ...words, file(playbook, attempt)];
    return await runTool(attempt, { argv, cwd: attempt.cwd, env }, { install: INSTALL });
  } finally {
    if (variables !== null) removeIfPossible(variables);
  }
}

/**
 * The path of a private file: on the command line others could read the variables, and their length would be limited.
 */
function variablesFile(extraVars: Json | undefined, attempt: Attempt): string | { problem: string } | null {
  if (typeof extraVars !== 'object' || extraVars === null || Array.isArray(extraVars)) return null;
  try {
    const json = JSON.stringify(expandValue(extraVars, attempt.expand, 'extraVars'));
    if (json === '{}') return null;
    const path = join(attempt.scratch(), `extra-vars-${randomBytes(4).toString('hex')}.json`);
    writeFileSync(path, json, { flag: 'wx', mode: 0o600 });
    return path;
  } catch (error) {
    if (error instanceof MixedTemplate) return { problem: error.message };
    return { problem: `the extra variables could not be written: ${messageOf(error)}` };
  }
}

/** Values follow a `=`, so that none can be taken for an option. */
function playbookOptions({ text, texts, isSet }: ToolSettings, attempt: Attempt): readonly string[] {
  const list = (option: string, key: string) => (texts(key).length > 0 ? [`${option}=${texts(key).join(',')}`] : []);
  const one = (option: string, value: string | null) => (value === null ? [] : [`${option}=${value}`]);
  const vault = text('vaultPasswordFile');
  return [
    ...texts('inventory').map((inventory) => `--inventory=${expandHome(inventory, attempt.env['HOME'])}`),
    ...list('--tags', 'tags'),
    ...list('--skip-tags', 'skipTags'),
    ...list('--limit', 'limit'),
    ...(isSet('check') ? ['--check'] : []),
    ...(isSet('diff') ? ['--diff'] : []),
    ...one('--forks', text('forks')),
    ...(isSet('become') ? ['--become'] : []),
    ...one('--user', text('user')),
    ...one('--vault-password-file', vault === null ? null : expandHome(vault, attempt.env['HOME'])),
  ];
}

/** Keeps a file name that begins with a dash from being read as an option. */
function file(path: string, { env }: Attempt): string {
  return path.startsWith('-') ? `./${path}` : expandHome(path, env['HOME']);
}

/** Start of a Jinja expression, statement or comment. */
const OPENERS = /\{[{%#]/g;

/** A text contains an expression next to a variable: Ansible would evaluate the variable's value too. */
class MixedTemplate extends Error {}

/**
 * Expands `extraVars` for Ansible, sorted by name, types preserved. Ansible treats texts as templates, as anywhere in a
 * playbook; a text with an expression that came from a variable is marked so that Ansible does not evaluate it. Throws a
 * `MixedTemplate` if a text also has an expression of its own.
 */
function expandValue(value: Json, expand: (text: string) => string, path: string): Json {
  if (typeof value === 'string') return expandString(value, expand, path);
  if (Array.isArray(value)) return value.map((item: Json, i) => expandValue(item, expand, `${path}[${i}]`));
  if (typeof value !== 'object' || value === null) return value;
  const entries = sortedEntries(value).map(([name, item]) => [name, expandValue(item, expand, `${path}.${name}`)]);
  return Object.fromEntries(entries) as JsonObject;
}

function expandString(template: string, expand: (text: string) => string, path: string): Json {
  const text = expand(template);
  const own = countOpeners(literalText(template));
  if (countOpeners(text) === own) return text;
  if (own === 0) return { __ansible_unsafe: text };
  throw new MixedTemplate(
    `"${path}" contains an expression and a variable whose value contains another: put the value into a variable of its own`,
  );
}

function countOpeners(text: string): number {
  return text.match(OPENERS)?.length ?? 0;
}
