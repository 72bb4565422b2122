import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { CommanderError } from 'commander';
import { parseAllDocuments } from 'yaml';
import { buildProgram } from '#cli/program.ts';
import { createConsole } from '#cli/terminal/console.ts';
import { readConfig } from '#config/config.ts';
import { settings } from '#config/settings.ts';
import { loadWorkflow } from '#language/load.ts';
import { withDirectory } from '../support/wf.ts';
import { type Block, commandsOf, wfCalls } from './guide-blocks.ts';
import { writeFiles } from './guide-player.ts';

/**
 * What is wrong with a block of YAML: one with `steps` must be a workflow, one with a setting a configuration file, and
 * anything else, and `fragment`, is only read. A file that the page runs is left to that.
 */
export async function yamlProblems(block: Block, page: readonly Block[] = []): Promise<readonly string[]> {
  try {
    const documents = parseAllDocuments(block.text);
    if ('empty' in documents) return [];
    for (const { errors } of documents) if (errors[0] !== undefined) throw errors[0];
    const value: unknown = documents[0]?.toJS();
    const keys = typeof value === 'object' && value !== null ? Object.keys(value) : [];
    if (block.words.has('fragment') || isRun(block, page)) return [];
    return await withDirectory(async (directory) => {
      if (keys.includes('steps')) return workflowProblems(block, page, directory);
      if (keys.some((key) => key === 'logForwarding' || key in settings)) readAsSettings(block, directory);
      return [];
    });
  } catch (error) {
    return [(error as Error).message];
  }
}

function isRun({ file }: Block, page: readonly Block[]): boolean {
  if (file === null) return false;
  const calls = page.filter(({ words }) => words.has('run')).flatMap(commandsOf);
  const words = calls.flatMap(({ text }) => wfCalls(text)).flat();
  return words.some((word) => basename(word) === basename(file));
}

/** What a block imports may be left to the reader's imagination. */
function workflowProblems({ text }: Block, page: readonly Block[], directory: string): readonly string[] {
  const file = join(writeFiles(page, directory), 'workflow.yaml');
  writeFileSync(file, text);
  const found = loadWorkflow({ file }).diagnostics.filter(({ code }) => code !== 'import-not-found');
  return found.map(({ message }) => message);
}

function readAsSettings({ text }: Block, directory: string): void {
  writeFileSync(join(directory, 'config.yaml'), text);
  readConfig({ WF_HOME: directory }, directory, {});
}

/** Why the program does not take a command line; null when it does. Nothing is run. */
export async function refusalOf(words: readonly string[]): Promise<string | null> {
  const silent = { writeOut: () => {}, writeErr: () => {}, outputError: () => {} };
  const program = buildProgram(createConsole({}, false), () => {}, []).configureOutput(silent);
  for (const command of program.commands) command.configureOutput(silent).action(() => {});
  try {
    await program.parseAsync(words, { from: 'user' });
    return null;
  } catch (error) {
    return error instanceof CommanderError && error.exitCode === 0 ? null : (error as Error).message;
  }
}
