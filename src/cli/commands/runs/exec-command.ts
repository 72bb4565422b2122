import { basename, resolve } from 'node:path';
import { workflowDirectories } from '#config/config.ts';
import { wordsAsList } from '#core/words/command-args.ts';
import { getWorkflow, type LoadedWorkflow, pathKind, type WorkflowDirectories } from '#service/workflows.ts';
import { WfError } from '#system/errors.ts';
import type { CommonOptions } from '../../program/add-command.ts';
import { configFor } from '../../reference.ts';
import { type ForegroundOptions, runInForeground } from '../../run/foreground.ts';
import type { Console } from '../../terminal/console.ts';

type ExecOptions = CommonOptions &
  Pick<ForegroundOptions, 'shellOnFailure'> & {
    readonly words: readonly string[];
    readonly name: string;
    readonly dir?: string;
    readonly runId?: string;
  };

/** Runs one command as a run of its own; its exit code is the command's. */
export async function execCommand(options: ExecOptions, console: Console): Promise<number> {
  const { words, name } = options;
  if (words[0]?.trim() === '') throw new WfError('usage', 'the command is empty', { help: 'wf exec make test' });
  if (name.trim() === '') throw new WfError('usage', 'the name is empty', { help: 'leave --name out, or give it one' });
  const config = configFor(options);
  const dir = directoryOf(config.cwd, options);
  const loaded = execWorkflow(words, { name, directories: { ...workflowDirectories(config), cwd: dir } });
  const request = { ...loaded, params: [], runId: options.runId ?? null, trigger: 'cli', strict: false } as const;
  return runInForeground({ request, config }, { ...options, exitCode: true }, console);
}

function directoryOf(cwd: string, { dir }: ExecOptions): string {
  const path = resolve(cwd, dir ?? '.');
  if (pathKind(path) === 'directory') return path;
  throw new WfError('not-found', `there is no directory "${path}"`);
}

/** Returns a workflow of one step that runs exactly these words; it is read like a file, so that all defaults apply. */
export function execWorkflow(
  words: readonly string[],
  { name, directories }: { readonly name: string; readonly directories: WorkflowDirectories },
): LoadedWorkflow {
  const file = { name, steps: [{ name: stepName(words), command: words }] };
  const loaded = getWorkflow({ text: Buffer.from(JSON.stringify(file)) }, directories);
  const { workflow } = loaded;
  const steps = workflow.steps.map((step) => {
    return { ...step, command: wordsAsList(words, { workflow, step, params: [] }) };
  });
  return { ...loaded, workflow: { ...workflow, steps }, sources: [] };
}

/** Returns the program's name if it is suitable as the prefix of every line. */
function stepName([program = '']: readonly string[]): string {
  const name = basename(program);
  return /^\w[\w.+-]{0,39}$/.test(name) && !name.startsWith('handlerOn.') ? name : 'command';
}
