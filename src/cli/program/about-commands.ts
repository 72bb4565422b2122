import { version } from '../version.ts';
import type { AddCommand } from './add-command.ts';
import { withCommon } from './options.ts';

/** `wf schema`. */
export const addSchema: AddCommand = (program, console, setExitCode) => {
  withCommon(program.command('schema'))
    .argument('[path]', 'a key, such as steps.retryPolicy or executor.http')
    .description('print the JSON Schema of workflow files, or the documentation of one key')
    .option('--json', 'print the schema of the key')
    .action(async (path: string | undefined, options) => {
      const { schemaCommand } = await import('../commands/schema.ts');
      setExitCode(schemaCommand({ ...options, path: path ?? null }, console));
    });
};

/** `wf config`. */
export const addConfig: AddCommand = (program, console, setExitCode) => {
  withCommon(program.command('config'))
    .argument('[key]', 'a setting, such as maxConcurrentRuns; all of them when it is left out')
    .description('print every setting with its value and where that comes from')
    .option('--json', 'print JSON')
    .action(async (key: string | undefined, options) => {
      const { configCommand } = await import('../commands/config.ts');
      setExitCode(configCommand({ ...options, key: key ?? null }, console));
    });
};

/** `wf doctor`. */
export const addDoctor: AddCommand = (program, console, setExitCode) => {
  withCommon(program.command('doctor'))
    .description('tell what this machine offers to workflows, and how to get what is missing')
    .option('--json', 'print JSON')
    .action(async (options) => {
      const { doctorCommand } = await import('../commands/doctor.ts');
      setExitCode(await doctorCommand(options, console));
    });
};

/** `wf version`. */
export const addVersion: AddCommand = (program, console) => {
  withCommon(program.command('version'))
    .description('print the version')
    .option('--json', 'print JSON, with the versions beneath')
    .action(({ json }: { json?: true }) => {
      const { node, v8 } = process.versions;
      console.out.write(
        json ? `${JSON.stringify({ version, node, v8, platform: process.platform })}\n` : `${version}\n`,
      );
    });
};
