import { baseEnvironment } from '#environment/environment.ts';
import { RunSecrets } from '#environment/run-secrets.ts';
import { areDescriptorsScarce } from '#system/descriptors.ts';
import type { ActiveRun, RunHost, RunRequest } from '../engine.ts';
import { createDescriptorGate } from './descriptor-gate.ts';
import type { LocalEngineOptions } from './engine-options.ts';
import { LocalRun, type LocalRunParts } from './local-run.ts';
import { logDirectory } from './new-run.ts';

/** Creates the host of runs in this process, whose steps are children of it. */
export function createRunHost(options: LocalEngineOptions): RunHost {
  const gate = createDescriptorGate(areDescriptorsScarce);
  const host: RunHost = {
    start: (request, watcher, family) => {
      const processEnv = baseEnvironment(request.dotenv, options.processEnv);
      const logDir = logDirectory(request.workflow, processEnv);
      const secrets = new RunSecrets(request, processEnv, family);
      const journal = options.store.create(secrets.snapshot(), { logDir });
      return begin(request, { journal, secrets, watcher, earlier: [] });
    },
    carry: (request, { journal, events }, watcher) => {
      const secrets = new RunSecrets(request, baseEnvironment(request.dotenv, options.processEnv));
      return begin(request, { journal, secrets, watcher, earlier: events });
    },
  };
  const begin = (request: RunRequest, own: Omit<LocalRunParts, 'gate'>): ActiveRun => {
    const { runId, workflow } = request;
    const processEnv = baseEnvironment(request.dotenv, options.processEnv);
    const run = new LocalRun({ ...options, processEnv, host }, request, { ...own, gate });
    run.begin();
    return {
      runId,
      workflow,
      get isMasked() {
        return own.secrets.isTextMasked;
      },
      logs: own.journal.logs,
      state: () => run.state,
      result: () => run.result,
      failedChildren: run.failedChildren,
      cancel: (asked) => run.cancel(asked),
      answer: (given) => run.answer(given),
      finished: run.finished,
    };
  };
  return host;
}
