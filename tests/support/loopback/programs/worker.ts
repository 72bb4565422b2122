import { join } from 'node:path';
import type { RunInput } from '#core/run/run.ts';
import { expandText } from '#core/words/interpolate.ts';
import { PathProblem } from '#core/words/json-path.ts';
import { Background } from '#engine/attempt/background.ts';
import { MadeAttempts } from '#engine/attempt/made-attempts.ts';
import { RunningAttempts } from '#engine/attempt/running-attempts.ts';
import { StepRunner } from '#engine/attempt/step-runner.ts';
import { graceOf } from '#engine/driver/child-run.ts';
import type { StepTask } from '#engine/driver/step-task.ts';
import { baseEnvironment } from '#environment/environment.ts';
import { RunSecrets } from '#environment/run-secrets.ts';
import type { Attempt, Scope, SubworkflowRequest, SubworkflowResult } from '#executors/executor.ts';
import { loadExecutor } from '#executors/registry.ts';
import { parseParamTemplates } from '#language/formats.ts';
import { EndSignal } from '#processes/end-signal.ts';
import { NamedPipes } from '#processes/named-pipes.ts';
import { endProcesses, findRunProcesses, processMoment } from '#processes/processes.ts';
import { capture } from '#processes/programs.ts';
import { createArtifacts } from '#store/files/artifacts/artifact-files.ts';
import { createFingerprints, fingerprintsPath } from '#store/files/fingerprints/fingerprint-files.ts';
import { createRunLogs } from '#store/files/logs/run-logs.ts';
import type { RunFiles } from '#store/store.ts';
import { systemClock as clock } from '#system/clock.ts';
import { WfError } from '#system/errors.ts';
import { asData, type ChildEnd, type ToHost, ToldSecrets, type ToWorker } from '../protocol.ts';

type Message<Type extends ToWorker['type']> = Extract<ToWorker, { type: Type }>;

/** The attempts of one run, in this process. Its host sends orders and gets what comes of them. */
class AttemptWorker {
  readonly #graceMs: number;
  readonly #secrets: RunSecrets;
  readonly #background: Background;
  readonly #running: RunningAttempts;
  readonly #runner: StepRunner;
  readonly #made: MadeAttempts;
  readonly #preparation = new EndSignal();
  readonly #children = new Map<string, { readonly attempt: Attempt; readonly end: (end: ChildEnd) => void }>();

  constructor({ request, files, secrets }: Message<'prepare'>) {
    const { runId, workflow, dotenv } = request;
    const processEnv = baseEnvironment(dotenv, { ...process.env } as Readonly<Record<string, string>>);
    const known = new ToldSecrets();
    for (const value of secrets) known.add(value);
    known.onValue((value) => send({ type: 'secret', value }));
    this.#graceMs = graceOf(request);
    this.#secrets = new RunSecrets(request, processEnv, known);
    this.#background = new Background(
      { moment: processMoment, find: findRunProcesses, end: endProcesses },
      { runId, logs: files.logs },
    );
    this.#running = new RunningAttempts(clock, this.#graceMs);
    const pipes = new NamedPipes(processEnv);
    this.#runner = new StepRunner(
      {
        clock,
        processEnv,
        executor: loadExecutor,
        capture,
        openPipe: (directory) => pipes.open(directory),
        runWorkflow: (asked, attempt) => this.#runWorkflow(asked, attempt),
      },
      request,
      {
        files: {
          path: files.journal,
          logs: createRunLogs(files.logs, workflow),
          artifacts: createArtifacts(join(files.scratch, '../artifacts'), () => files.scratch, null),
          ...fingerprintsOf(files.journal, workflow.file),
          scratch: () => files.scratch,
        },
        secrets: this.#secrets,
        warn,
      },
    );
    this.#made = new MadeAttempts({
      clock,
      graceMs: this.#graceMs,
      secrets: this.#secrets,
      runner: this.#runner,
      running: this.#running,
      background: this.#background,
      post,
      warn,
    });
    this.#secrets.warnOfShort((message) => warn(null, message));
    for (const path of dotenv?.missing ?? []) warn(null, `dotenv file "${path}" does not exist`);
    guard(
      this.#runner.prepare(this.#preparation, clock.now()).then((prepared) => send({ type: 'prepared', prepared })),
    );
  }

  receive(message: Exclude<ToWorker, Message<'prepare'>>): void {
    switch (message.type) {
      case 'attempt':
        guard(this.#attempt(message.task));
        break;
      case 'set':
        this.#set(message);
        break;
      case 'end':
        this.#running.end(message.step);
        break;
      case 'stop':
        this.#running.stop(message.fanOut);
        break;
      case 'stop-preparation':
        this.#preparation.abort('stop');
        break;
      case 'kill':
        this.kill();
        break;
      case 'secret':
        this.#secrets.shared.add(message.value);
        break;
      case 'child-started':
        this.#children.get(message.step)?.attempt.started(null, message.child);
        break;
      case 'child-line':
        this.#children.get(message.step)?.attempt.write('stderr', message.text);
        break;
      case 'child-ended':
        this.#children.get(message.step)?.end(message.end);
        break;
      case 'clean-up':
        guard(this.#cleanUp(message));
        break;
    }
  }

  kill(): void {
    this.#running.kill();
  }

  async #attempt(task: StepTask): Promise<void> {
    const signals = this.#running.enter(task.step);
    this.#running.begin(task.step);
    this.#made.end(task, await this.#made.run(task, { signals, flush: null, slot: null }), signals);
  }

  #set({ outputs }: Message<'set'>): void {
    try {
      this.#runner.set(outputs);
    } catch (error) {
      if (!(error instanceof WfError)) throw error;
      post({ type: 'cancel', at: clock.now(), reason: 'storage', message: error.message, force: false });
    }
  }

  /** Asks the host for a child run, which ends with the attempt. */
  async #runWorkflow(asked: SubworkflowRequest, attempt: Attempt): Promise<SubworkflowResult> {
    const { number, signal, kill } = attempt;
    const step = attempt.step.name;
    const ended = new Promise<ChildEnd>((end) => this.#children.set(step, { attempt, end }));
    send({ type: 'child', step, attempt: number, asked, variables: variablesOf(asked, attempt.scope) });
    const releases = [
      signal.onAbort(() => send({ type: 'end-child', step, how: 'stop' })),
      kill.onAbort(() => send({ type: 'end-child', step, how: 'kill' })),
    ];
    const end = await ended;
    for (const release of releases) release();
    this.#children.delete(step);
    if ('problem' in end) throw new PathProblem(end.problem);
    return end;
  }

  async #cleanUp({ spared, force }: Message<'clean-up'>): Promise<void> {
    await this.#background.end(new Set(spared), this.#graceMs);
    for (const problem of await this.#runner.shared.close(force)) warn(null, problem);
    this.#runner.close();
    send({ type: 'cleaned-up' });
  }
}

/** The fingerprints of the home that has the journal. */
function fingerprintsOf(journal: string | null, file: string | null): Pick<RunFiles, 'fingerprints'> {
  if (journal === null || file === null) return {};
  const root = fingerprintsPath(join(journal, '../..'));
  return { fingerprints: async () => createFingerprints(root, file) };
}

/** The variables that the texts of a request use, by the names that they look up. */
function variablesOf({ run, params, json = '' }: SubworkflowRequest, scope: Scope): Readonly<Record<string, string>> {
  const variables: Record<string, string> = {};
  const look: Scope = (name) => {
    const value = scope(name);
    if (value !== undefined) variables[name] = value;
    return value;
  };
  for (const text of [run, json, ...parseParamTemplates(params).map(({ value }) => value)]) {
    try {
      expandText(text, look);
    } catch (error) {
      // The host finds the same problem.
      if (!(error instanceof PathProblem)) throw error;
    }
  }
  return variables;
}

/** A host that is gone is noticed by the disconnect, and not by a message that cannot be sent. */
function send(message: ToHost): void {
  if (process.connected) process.send?.(asData(message), undefined, undefined, () => {});
}

function post(input: RunInput): void {
  send({ type: 'input', input });
}

function warn(step: string | null, message: string): void {
  send({ type: 'warning', step, message });
}

/** A rejection is an internal error, which ends this process. */
function guard(work: Promise<void>): void {
  work.catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
}

let worker: AttemptWorker | null = null;

process.on('message', (message: ToWorker) => {
  if (message.type === 'prepare') worker = new AttemptWorker(message);
  else worker?.receive(message);
});
// A run without its host ends.
process.on('disconnect', () => worker?.kill());
