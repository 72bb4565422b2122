import { readFileSync } from 'node:fs';
import { type Config, readConfig } from '../config/config.ts';
import type { WorkflowReference } from '../service/workflows/workflows.ts';
import type { CommonOptions } from './program/add-command.ts';

/** What the command line names: `-` is standard input, anything else a file or a name. */
export function workflowReference(name: string): WorkflowReference {
  return name === '-' ? { text: readFileSync(0) } : { name, mayBePipe: true };
}

/** The configuration of this process under the options of a command. Throws a `WfError` `usage` for what makes no sense. */
export function configFor(options: CommonOptions, { isDaemon = false, requiresTrust = true } = {}): Config {
  const config = readConfig(process.env, process.cwd(), options, { isDaemon, requiresTrust });
  // Used long before; but an error could not be told then.
  config.settings.read('color');
  return config;
}
