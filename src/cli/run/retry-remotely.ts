import { retryRemotely as order } from '../../client/order-run.ts';
import { commandOptionsOf } from '../../client/remote-access.ts';
import type { ClientSettings } from '../../config/client-settings.ts';
import type { Config } from '../../config/config.ts';
import type { RetrySelection } from '../../core/run/retry.ts';
import type { Param } from '../../core/run/run.ts';
import { WfError } from '../../errors.ts';
import { withDaemon } from '../access/open-access.ts';
import type { Console } from '../terminal/console.ts';
import { printDetached } from './detached.ts';
import { reporterFor } from './foreground.ts';
import { followInForeground } from './remote-foreground.ts';
import { printNothingToDo, type RetryOptions } from './retry-options.ts';

/** A retry to request from a daemon. */
export type RemoteRetry = {
  readonly options: RetryOptions;
  readonly config: Config;
  readonly selection: RetrySelection;
  readonly params: readonly Param[] | null;
};

/** Requests a retry from a daemon and shows the new run like a local one, or prints its id with `--detach`. */
export function retryRemotely(
  server: ClientSettings,
  { options, config, selection, params }: RemoteRetry,
  console: Console,
): Promise<number> {
  if (options.shellOnFailure) {
    throw new WfError('usage', `--shell-on-failure works only for local runs, and ${server.source} names a daemon`);
  }
  const { file = false, runId = null } = options;
  const workflow = options.req === undefined ? null : options.run;
  const run = options.req ?? options.run;
  return withDaemon(server, console, async (client) => {
    // Report an unknown reporter before anything starts.
    const { reporter } = await reporterFor(config, console, commandOptionsOf(client));
    const strict = config.settings.read('strict').value;
    const { retried, ordered } = await order(
      client,
      { run, workflow, selection, params, useFile: file, runId, strict },
      config.cwd,
    );
    if (ordered === null) return printNothingToDo(retried.runId, console);
    const { summary, isNew } = ordered;
    if (options.detach)
      return printDetached({ runId: summary.runId, isNew, options: commandOptionsOf(client) }, console);
    if (!isNew) throw new WfError('run-exists', `a run "${summary.runId}" exists already`);
    return followInForeground({ client, summary, reporter }, options, console);
  });
}
