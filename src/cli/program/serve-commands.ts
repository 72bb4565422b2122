import type { AddCommand } from './add-command.ts';
import { withCommon } from './options.ts';
import { withServerSettings } from './setting-options.ts';

/** `wf serve`. */
export const addServe: AddCommand = (program, console, setExitCode) => {
  withServerSettings(
    withCommon(program.command('serve').aliases(['server', 'start-all', 'scheduler']), '-d, --dags <dir>'),
  )
    .description('run the daemon: the REST API and the scheduler')
    .action(async (options) => {
      const { serveCommand } = await import('../commands/serve-command.ts');
      setExitCode(await serveCommand(options, console));
    });
};
