import type { DaemonClient } from '../../client/daemon-client.ts';
import { followRun } from '../../client/events/event-feed.ts';
import { readRemoteTail } from '../../client/logs/remote-tail.ts';
import { maskedOf } from '../../client/masked-run.ts';
import { type RemoteWorkflow, workflowOf } from '../../client/remote-workflow.ts';
import { buildGraph } from '../../core/graph.ts';
import { originsOf } from '../../core/run/origin.ts';
import type { StoredEvent } from '../../core/run/run.ts';
import { initialRun, type RunState } from '../../core/run/run-state.ts';
import type { RunSummary } from '../../core/run/summary.ts';
import { messageOf, WfError } from '../../errors.ts';
import { locateSteps } from '../../language/locate.ts';
import type { Reporter } from '../../render/reporters/reporter.ts';
import { shortId } from '../../render/text/short-id.ts';
import { evolveIfFit } from '../../service/history/fold-run.ts';
import type { Service } from '../../service/service.ts';
import { exitCodeOf, exitCodes, stopSignals } from '../exit-codes.ts';
import { requester } from '../requester.ts';
import type { Console } from '../terminal/console.ts';
import { printError } from '../terminal/print-error.ts';
import type { ForegroundOptions } from './foreground.ts';
import { listenForSignals } from './stop-listener.ts';

/** A run of a daemon to show here, from its first event. */
export type RemoteForegroundRun = {
  readonly client: DaemonClient;
  readonly service: Service;
  readonly runId: string;
  readonly reporter: Reporter;
};

/** A slower reader gets nothing new until it has caught up. */
const mostPendingBytes = 4 * 1024 * 1024;

/**
 * Shows a run of a daemon like a local run and returns the exit code. The first signal stops the run through the daemon; the
 * second one only leaves. If the daemon stays away for too long, the result of the run is unknown here, and wf says so.
 */
export async function followInForeground(
  { client, service, runId, reporter }: RemoteForegroundRun,
  options: ForegroundOptions,
  console: Console,
): Promise<number> {
  const { runs, commandOptions } = service;
  const leave = (exitCode: number) => {
    const command = `wf status${commandOptions} ${shortId(runId)}`;
    client.tell(`run ${shortId(runId)} continues at ${client.settings.url}; ${command} shows its result`);
    return exitCode;
  };
  const stop = listenForSignals();
  stop.attach({ cancel: ({ force }) => (force ? undefined : void askToStop(service, runId, client.tell)) });
  try {
    const remote = await workflowOf(client, await runs.find(runId));
    const view = new RemoteView({ client, runId, remote, reporter });
    const wanted = reporter.wantsOutput ? { step: null, known: [] } : null;
    for await (const item of followRun(client, { runId, after: 0, signal: stop.forced }, wanted)) {
      if (item.kind === 'event') await view.show(item.event);
      else reporter.output(item.chunk);
      if (console.out.pending() > mostPendingBytes) await console.out.drained();
    }
    if (stop.forced.aborted) return leave(stopSignals[stop.signal() ?? 'SIGTERM']);
    const ended = await runs.find(runId);
    view.end(ended, await maskedOf(client, ended));
    return exitCodeOf(ended, { passExitCode: options.exitCode ?? false, signal: stop.signal() });
  } catch (error) {
    if (stop.forced.aborted) return leave(stopSignals[stop.signal() ?? 'SIGTERM']);
    if (!(error instanceof WfError)) throw error;
    await printError(error, console);
    return leave(exitCodes.failed);
  } finally {
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

type Parts = {
  readonly client: DaemonClient;
  readonly runId: string;
  readonly remote: RemoteWorkflow;
  readonly reporter: Reporter;
};

/** Passes the events of a daemon's run to one reporter. */
class RemoteView {
  readonly #parts: Parts;
  readonly #tails = new Map<string, readonly string[]>();
  #state: RunState;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { workflow } = parts.remote;
    this.#state = initialRun(buildGraph(workflow), workflow);
  }

  async show(event: StoredEvent): Promise<void> {
    const { reporter, remote, runId } = this.#parts;
    const state = evolveIfFit(this.#state, event);
    if (state === null) return;
    this.#state = state;
    if (event.type === 'run.created') reporter.begin(remote.workflow, runId);
    if (event.type === 'step.finished' && event.attempt > 0) await this.#readTail(event);
    reporter.event(event, state);
  }

  end(summary: RunSummary, masked: Awaited<ReturnType<typeof maskedOf>>): void {
    const { reporter, remote } = this.#parts;
    const failed = [...summary.steps, ...summary.handlers].filter(({ status }) => status === 'failed');
    const places = locateSteps(
      remote.sources,
      failed.map(({ name }) => name),
    );
    reporter.end({ summary, places, tails: this.#tails, origins: originsOf(this.#state), kept: true, ...masked });
  }

  async #readTail({ step, attempt, status }: Extract<StoredEvent, { type: 'step.finished' }>): Promise<void> {
    const { client, runId, reporter } = this.#parts;
    if (status !== 'failed' && !reporter.wantsTails) return;
    this.#tails.set(step, await readRemoteTail(client, { runId, step, attempt }));
  }
}
