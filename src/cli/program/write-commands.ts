import { graphFormats } from '#render/graph/graph-format.ts';
import { defaultWorkflow } from '#service/workflows/workflow-files.ts';
import { templateNames } from '../asset.ts';
import type { AddCommand } from './add-command.ts';
import { choice, withCommon, workflowArgument } from './options.ts';

/** `wf init`. */
export const addInit: AddCommand = (program, console, setExitCode) => {
  withCommon(program.command('init'))
    .argument('[file]', 'the file to write, or - for standard output', 'workflow.yaml')
    .description('write a first workflow, with comments, ready to run')
    .addOption(choice('--template <name>', 'the template', templateNames).default('basic'))
    .option('--list', 'print the templates, and write nothing')
    .option('--force', 'overwrite an existing file')
    .option('--json', 'with --list: print JSON')
    .action(async (file: string, options) => {
      const { initCommand } = await import('../commands/files/init-command.ts');
      setExitCode(initCommand({ ...options, file }, console));
    });
};

/** `wf validate`. */
export const addValidate: AddCommand = (program, console, setExitCode) => {
  withCommon(program.command('validate').alias('lint'))
    .argument(
      '[file...]',
      'workflow files or directories, names, or - for standard input; default: the workflows directory',
    )
    .description('print every mistake in the files, each with its line and column')
    .addOption(choice('--format <format>', 'the output format', ['pretty', 'json', 'github']).default('pretty'))
    .option('--json', 'the same as --format json')
    .option('--strict', 'use of the output of a step that is not a dependency is an error')
    .option('--verbose', 'print also the warnings that files ignore')
    .action(async (names: string[], options) => {
      const { validateCommand } = await import('../commands/files/validate-command.ts');
      setExitCode(await validateCommand({ ...options, names }, console));
    });
};

/** `wf graph`. */
export const addGraph: AddCommand = (program, console, setExitCode) => {
  withCommon(program.command('graph'))
    .addArgument(workflowArgument())
    .description('draw the steps and their dependencies')
    .addOption(choice('--format <format>', 'the output format', graphFormats).default('ascii'))
    .option('--json', 'the same as --format json')
    .action(async (named: string | undefined, options) => {
      const name = named ?? defaultWorkflow(process.cwd(), 'graph');
      const { graphCommand } = await import('../commands/files/graph-command.ts');
      setExitCode(await graphCommand({ ...options, name }, console));
    });
};

/** `wf schema`. */
export const addSchema: AddCommand = (program, console, setExitCode) => {
  withCommon(program.command('schema'))
    .argument('[path]', 'a key, such as steps.retryPolicy or executor.http')
    .description('print the JSON Schema of workflow files, or the documentation of one key')
    .option('--json', 'print the schema of the key')
    .action(async (path: string | undefined, options) => {
      const { schemaCommand } = await import('../commands/files/schema-command.ts');
      setExitCode(schemaCommand({ ...options, path: path ?? null }, console));
    });
};
