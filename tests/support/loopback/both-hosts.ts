import type { ChildProcess } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hostOptions } from '#app/app.ts';
import { openEngineHost } from '#app/engine-app.ts';
import { fileStore } from '#app/run-store.ts';
import { readConfig, workflowDirectories } from '#config/config.ts';
import type { ActiveRun, RunHost, RunRequest, RunWatcher } from '#engine/engine.ts';
import { createRunHost } from '#engine/local/run-host.ts';
import { runRequest, type StartRequest, withDotenv } from '#service/start-runs.ts';
import { getWorkflow } from '#service/workflows.ts';
import { withDirectory } from '../wf.ts';
import { createLoopbackHost } from './host.ts';
import { type Story, storyOf } from './story.ts';

/** A run to make with both hosts, in a directory with these files. */
export type Scenario = {
  /** A directory to copy, or texts by name; the workflow is `workflow.yaml`. */
  readonly files: string | Readonly<Record<string, string>>;
  readonly request?: Partial<Omit<StartRequest, 'workflow' | 'sources' | 'envFiles'>>;
  readonly envFiles?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Acts on the run while it runs. */
  readonly act?: (run: RunInHand) => Promise<void>;
};

/** A run in progress; `when` resolves once an event of this type, of this step or instance, is stored. */
export type RunInHand = ActiveRun & {
  /** Where its files are. */
  readonly folder: string;
  readonly when: (type: Parameters<RunWatcher>[0]['type'], step?: string) => Promise<void>;
};

/** Makes the run with the local host. */
export function playLocally(scenario: Scenario): Promise<Story> {
  return play(scenario, (config) => createRunHost(hostOptions(config, options)));
}

/** Makes the run with the loopback host; `worker`: its compiled worker. */
export function playByWorkers(
  scenario: Scenario,
  worker: string,
  onWorker: (runId: string, worker: ChildProcess) => void = () => {},
): Promise<Story> {
  return play(scenario, (config) => createLoopbackHost({ ...hostOptions(config, options), worker, onWorker }));
}

/** Makes the run with the workers of an engine. */
export function playOnEngine(scenario: Scenario, url: string): Promise<Story> {
  return play(scenario, (config) => openEngineHost(config, { url, keepHistory: true }));
}

/** Neither host sends anything: see the table of differences. */
const options = { keepHistory: true, notify: () => null } as const;

type PlayedHost = Pick<RunHost, 'start'> & {
  readonly complete?: (request: RunRequest) => Promise<RunRequest>;
  readonly close?: () => Promise<void>;
};

function play(
  { files, request = {}, envFiles = [], env = {}, act }: Scenario,
  createHost: (config: ReturnType<typeof readConfig>) => PlayedHost | Promise<PlayedHost>,
): Promise<Story> {
  return withDirectory(async (place) => {
    const [folder, home] = [join(place, 'folder'), join(place, 'home')];
    if (typeof files === 'string') cpSync(files, folder, { recursive: true });
    else writeAll(folder, files);
    const config = readConfig({ PATH: process.env['PATH'], LANG: 'C.UTF-8', ...env, WF_HOME: home }, folder, {});
    const loaded = getWorkflow({ name: join(folder, 'workflow.yaml') }, workflowDirectories(config));
    const wanted: StartRequest = {
      ...loaded,
      params: [],
      runId: null,
      trigger: 'cli',
      envFiles: envFiles.map((name) => join(folder, name)),
      ...request,
    };
    const events = new Events();
    const asked = runRequest(await withDotenv(wanted, config.processEnv));
    const host = await createHost(config);
    const run = host.start((await host.complete?.(asked)) ?? asked, (event) => events.add(event));
    await act?.({ ...run, folder, when: (type, step) => events.when(type, step) });
    await run.finished;
    await host.close?.();
    const { read } = fileStore(config);
    const stored = read(run.runId);
    if (stored === null) throw new Error('the run is not stored');
    return storyOf(stored, { folder, home }, read);
  });
}

function writeAll(folder: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}

type Event = Parameters<RunWatcher>[0];

/** The events of a run so far, for those who wait for one. */
class Events {
  readonly #all: Event[] = [];
  readonly #looks = new Set<() => void>();

  add(event: Event): void {
    this.#all.push(event);
    for (const look of this.#looks) look();
  }

  when(type: Event['type'], step?: string): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        const isThere = this.#all.some(
          (event) => event.type === type && (step === undefined || ('step' in event && event.step === step)),
        );
        if (!isThere) return;
        this.#looks.delete(look);
        resolve();
      };
      this.#looks.add(look);
      look();
    });
  }
}
