import { readFileSync } from 'node:fs';
import { type Config, readConfig } from '#config/config.ts';
import type { WorkflowReference } from '#service/workflows.ts';
import type { CommonOptions } from './program/add-command.ts';

/** Returns the workflow that an argument names: `-` is standard input, anything else a file or a name. */
export function workflowReference(name: string): WorkflowReference {
  return name === '-' ? { text: readFileSync(0) } : { name, mayBePipe: true };
}

/** The configuration of this process under the options of a command. Throws a `WfError` `usage` for invalid settings. */
export function configFor(options: CommonOptions, { isDaemon = false, requiresTrust = true } = {}): Config {
  const config = readConfig(process.env, process.cwd(), options, { isDaemon, requiresTrust });
  // The colour was needed earlier, but its error could not be printed then.
  config.settings.read('color');
  return config;
}
