import { parse } from 'node:path';
import { workflowDirectories } from '#config/config.ts';
import { runStatuses } from '#core/run/run.ts';
import type { Workflow } from '#core/workflow.ts';
import { reporterKinds } from '#render/reporters.ts';
import { defaultWorkflow, findWorkflowFiles, getWorkflowOnDemand, groupOf } from '#service/workflows.ts';
import { configFor } from '../reference.ts';
import { type Candidates, type Expected, type Given, nothing, plain } from './expected.ts';

type ExpectedValue = Extract<Expected, { type: 'value' }>;

/** Returns the values of arguments and options without fixed choices. Values that cannot be read are left out silently. */
export async function findValues({ value: { name }, given, word }: ExpectedValue): Promise<Candidates> {
  switch (name) {
    case 'workflow':
    case 'file':
      return { files: 'yaml', values: workflows(given) };
    case 'run':
      return { files: 'yaml', values: await runs(given, word) };
    case 'step':
    case '--step <name>':
    case '--from <name>':
      return { files: 'none', values: await steps(given) };
    case '--only <steps>':
    case '--skip <steps>':
      return { files: 'none', values: (await workflowOf(given))?.steps.map(({ name }) => plain(name)) ?? [] };
    case 'path':
      return { files: 'none', values: await schemaPaths() };
    case 'key':
      return { files: 'none', values: await settings() };
    case '--reporter <kind>':
      // File names follow `=`, where the shell begins a new word.
      return { files: 'none', values: [...reporterKinds, 'junit=', 'summary='].map(plain) };
    case '--param <NAME=value>':
      return { files: 'none', values: await parameters(given, word) };
    case '--status <status>':
      return { files: 'none', values: runStatuses.map(plain) };
    default:
      if (name.endsWith('<dir>')) return { ...nothing, files: 'directories' };
      return /<(file|glob)>$/.test(name) || name === 'command' ? { ...nothing, files: 'files' } : nothing;
  }
}

/** The workflows of the workflows directory, with the group if the name alone is ambiguous. */
function workflows(given: Given): Candidates['values'] {
  const { dagsDir } = configOf(given);
  if (dagsDir === null) return [];
  const found = findWorkflowFiles(dagsDir).files.map((file) => ({
    name: parse(file).name,
    group: groupOf(file, dagsDir),
  }));
  const counts = new Map<string, number>();
  for (const { name } of found) counts.set(name, (counts.get(name) ?? 0) + 1);
  return found.map(({ name, group }) => ({
    value: group !== '' && (counts.get(name) ?? 0) > 1 ? `${group}/${name}` : name,
    description: group === '' ? 'workflow' : `workflow in ${group}`,
  }));
}

async function runs(given: Given, word: string): Promise<Candidates['values']> {
  const { runWords } = await import('./run-words.ts');
  return runWords(configOf(given), word);
}

async function steps(given: Given): Promise<Candidates['values']> {
  const { stepCandidates } = await import('./run-words.ts');
  return stepCandidates(configOf(given), given.arguments.get('run') ?? '@latest');
}

/** Keys of the file and of a step; `wf schema` takes the latter without `steps.` too. */
async function schemaPaths(): Promise<Candidates['values']> {
  const { documentationOf } = await import('#language/schema/schema-doc.ts');
  const maps = ['', 'steps'].map((path) => documentationOf(path)?.keys ?? []);
  const [top = [], step = []] = maps.map((keys) => keys.map(({ key, description }) => ({ value: key, description })));
  return [...top, ...step.map(({ value, description }) => ({ value: `steps.${value}`, description }))];
}

async function settings(): Promise<Candidates['values']> {
  const { settings: table } = await import('#config/settings.ts');
  return Object.entries(table).map(([value, { about }]) => ({ value, description: about }));
}

/** Returns the workflow that the command line means; null for standard input. Throws if it means none. */
async function workflowOf(given: Given): Promise<Workflow | null> {
  const name = given.arguments.get('workflow') ?? defaultWorkflow(process.cwd(), 'run');
  if (name === '-') return null;
  return (await getWorkflowOnDemand({ name }, workflowDirectories(configOf(given)))).workflow;
}

/** Returns the declared parameters, or behind `NAME=` its choices and its default; no values of secrets, and no commands. */
async function parameters(given: Given, word: string): Promise<Candidates['values']> {
  const workflow = await workflowOf(given);
  const secrets = new Set(workflow?.secrets.map((secret) => secret.name));
  const named = (workflow?.params ?? []).flatMap(({ name, ...param }) => (name === null ? [] : [{ name, ...param }]));
  const typed = named.find(({ name }) => word.startsWith(`${name}=`));
  if (typed === undefined) {
    return named.map(({ name, value }) => ({
      value: `${name}=`,
      description: secrets.has(name) || value === '' ? '' : `default: ${value}`,
    }));
  }
  if (secrets.has(typed.name)) return [];
  const { value, rule } = typed;
  const choices = rule?.choices ?? (rule?.type === 'boolean' ? ['true', 'false'] : []);
  const isText = value !== '' && !/[`$]/.test(value);
  return [...new Set([...choices, ...(isText ? [value] : [])])].map((each) => ({
    value: `${typed.name}=${each}`,
    description: each === value ? 'default' : '',
  }));
}

function configOf({ options }: Given): ReturnType<typeof configFor> {
  const dags = options.get('dags');
  return configFor(dags === undefined ? {} : { dags });
}
