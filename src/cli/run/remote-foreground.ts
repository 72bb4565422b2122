import type { DaemonClient } from '#client/daemon-client.ts';
import { followRun } from '#client/events/event-feed.ts';
import { remoteRunLogs } from '#client/logs/remote-run-logs.ts';
import { maskedOf, workflowOf } from '#client/remote-workflow.ts';
import { buildGraph } from '#core/graph.ts';
import type { StoredEvent } from '#core/run/run.ts';
import { initialRun, type RunState } from '#core/run/run-state.ts';
import type { Workflow } from '#core/workflow.ts';
import { shortId } from '#render/text/short-id.ts';
import { evolveIfFit } from '#service/history/fold-run.ts';
import type { FeedItem, Service } from '#service/service.ts';
import { readTail } from '#store/log-ends.ts';
import type { RunLogs } from '#store/logs.ts';
import { messageOf, WfError } from '#system/errors.ts';
import { exitCodeOf, exitCodes, stopSignals } from '../exit-codes.ts';
import type { ChosenReporter } from '../reporters/reporters.ts';
import { requester } from '../requester.ts';
import type { Console } from '../terminal/console.ts';
import { printError } from '../terminal/print-error.ts';
import { type ForegroundOptions, promptOf } from './foreground.ts';
import { type PresentedResult, Presenter } from './presenter.ts';
import type { RemoteApprovals } from './remote-approvals.ts';
import { listenForSignals } from './stop-signals.ts';

/** A run of a daemon to show here, from its first event. */
export type RemoteForegroundRun = ChosenReporter & {
  readonly client: DaemonClient;
  readonly service: Service;
  readonly runId: string;
};

/** A slower reader gets nothing new until it has caught up. */
const mostPendingBytes = 4 * 1024 * 1024;

/**
 * Shows a run of a daemon like a local run and returns the exit code. The first signal stops the run through the daemon; the
 * second one only leaves. If the daemon stays away for too long, the result of the run is unknown here, and wf says so.
 */
export async function followInForeground(
  { client, service, runId, ...chosen }: RemoteForegroundRun,
  options: ForegroundOptions,
  console: Console,
): Promise<number> {
  const { runs, commandOptions } = service;
  const { reporter } = chosen;
  const prompt = await promptOf(chosen, options, console);
  let approvals: RemoteApprovals | null = null;
  const leave = (exitCode: number) => {
    const command = `wf status${commandOptions} ${shortId(runId)}`;
    client.tell(`run ${shortId(runId)} continues at ${client.settings.url}; ${command} shows its result`);
    return exitCode;
  };
  const stop = listenForSignals();
  stop.attach({ cancel: ({ force }) => (force ? undefined : void askToStop(service, runId, client.tell)) });
  try {
    const remote = await workflowOf(client, await runs.find(runId));
    const logs = remoteRunLogs(client, runId, stop.forced);
    const feed = new RemoteFeed(logs, new Presenter(reporter, remote), remote.workflow);
    const wanted = reporter.wantsOutput ? { step: null, known: [] } : null;
    for await (const item of followRun(client, { runId, after: 0, signal: stop.forced }, wanted)) {
      await feed.present(item);
      if (item.kind === 'event' && item.event.type === 'step.held' && prompt !== null && approvals === null) {
        const { createRemoteApprovals } = await import('./remote-approvals.ts');
        approvals = createRemoteApprovals({ client, service, runId, prompt });
      }
      if (item.kind === 'event') approvals?.take(item.event);
      if (console.out.pending() > mostPendingBytes) await console.out.drained();
    }
    if (stop.forced.aborted) return leave(stopSignals[stop.signal() ?? 'SIGTERM']);
    const summary = await runs.find(runId);
    feed.end({ summary, kept: true, ...(await maskedOf(client, summary)) });
    return exitCodeOf(summary, { passExitCode: options.exitCode ?? false, signal: stop.signal() });
  } catch (error) {
    if (stop.forced.aborted) return leave(stopSignals[stop.signal() ?? 'SIGTERM']);
    if (!(error instanceof WfError)) throw error;
    await printError(error, console);
    return leave(exitCodes.failed);
  } finally {
    approvals?.close();
    console.out.write(reporter.abandon?.() ?? '');
    stop.close();
  }
}

/** Prints a message if the daemon cannot be asked, so that the user can stop the run in another way. */
async function askToStop({ runs }: Service, runId: string, tell: DaemonClient['tell']): Promise<void> {
  try {
    await runs.stop(runId, { by: requester('run'), kill: 'never' });
  } catch (error) {
    tell(`the run could not be stopped: ${messageOf(error)}`);
  }
}

/** Adds the state of the run after each event, and the last lines that the presenter wants. */
class RemoteFeed {
  readonly #logs: RunLogs;
  readonly #presenter: Presenter;
  #state: RunState;

  constructor(logs: RunLogs, presenter: Presenter, workflow: Workflow) {
    this.#logs = logs;
    this.#presenter = presenter;
    this.#state = initialRun(buildGraph(workflow), workflow);
  }

  async present(item: FeedItem): Promise<void> {
    if (item.kind === 'output') return this.#presenter.output(item.chunk);
    const { event } = item;
    const state = evolveIfFit(this.#state, event);
    if (state === null) return;
    this.#state = state;
    this.#presenter.event({ event, state, tail: await this.#tailOf(event) });
  }

  end(result: PresentedResult): void {
    this.#presenter.end(this.#state, result);
  }

  #tailOf(event: StoredEvent): Promise<readonly string[]> | null {
    return this.#presenter.wantsTail(event) ? readTail(this.#logs, event) : null;
  }
}
