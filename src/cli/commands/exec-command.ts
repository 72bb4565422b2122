import { resolve } from 'node:path';
import { WfError } from '../../errors.ts';
import { execWorkflow } from '../../service/workflows/exec-workflow.ts';
import { pathKind } from '../../service/workflows/workflow-files.ts';
import type { CommonOptions } from '../program/add-command.ts';
import { configFor } from '../reference.ts';
import { type ForegroundOptions, runInForeground } from '../run/foreground.ts';
import type { Console } from '../terminal/console.ts';

/** The options of `wf exec`. */
export type ExecOptions = CommonOptions &
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
  const { workflowPlaces } = await import('../../app.ts');
  const dir = directoryOf(config.cwd, options);
  const loaded = execWorkflow(words, { name, places: { ...workflowPlaces(config), cwd: dir } });
  const request = { ...loaded, params: [], runId: options.runId ?? null, trigger: 'cli', strict: false } as const;
  return runInForeground({ request, config }, { ...options, exitCode: true }, console);
}

function directoryOf(cwd: string, { dir }: ExecOptions): string {
  const path = resolve(cwd, dir ?? '.');
  if (pathKind(path) === 'directory') return path;
  throw new WfError('not-found', `there is no directory "${path}"`);
}
