import type { RunEvent } from '#core/run/run.ts';
import { maskEvent, maskWorkflow } from '#core/secrets/mask.ts';
import { Secrets } from '#core/secrets/secrets.ts';
import { expandText, lookupIn } from '#core/words/interpolate.ts';
import { PathProblem } from '#core/words/json-path.ts';
import type { Step } from '#core/workflow.ts';
import type { RunRequest } from '#engine/engine.ts';
import type { Scope } from '#executors/executor.ts';
import type { Snapshot } from '#store/store.ts';
import type { Environment } from './environment.ts';
import {
  hasSecrets,
  type KnownSecrets,
  knownSecrets,
  passwords,
  secretsAtRest,
  settingSecrets,
} from './known-secrets.ts';

const none: Omit<KnownSecrets, 'secrets'> = { names: new Set(), variables: {}, problem: null, tooShort: [] };

/** The secrets of one run and the masking of everything it stores or shows. */
export class RunSecrets {
  readonly #hasOwn: boolean;
  readonly #known: KnownSecrets;
  readonly #request: RunRequest;
  #snapshot: Snapshot | null = null;
  #warn: (message: string) => void = () => {};
  readonly #warned = new Set<string>();

  /** Reads the secrets known at the start into `shared`; `problem` names the one that cannot be read. */
  constructor(request: RunRequest, processEnv: Environment, shared = new Secrets()) {
    const { workflow, params } = request;
    const own = hasSecrets(workflow);
    this.#hasOwn = own;
    this.#known = own ? knownSecrets(workflow, params, processEnv, shared) : { ...none, secrets: shared };
    this.#request = request;
  }

  /** Whether output has to be masked before it is written anywhere. A sub-workflow may add secrets to a run without any. */
  get areInPlay(): boolean {
    return this.#hasOwn || !this.shared.isEmpty;
  }

  /** Secret values of this run, its parent and its children. */
  get shared(): Secrets {
    return this.#known.secrets;
  }

  /** Secrets read from elsewhere, as variables. */
  get variables(): Environment {
    return this.#known.variables;
  }

  get problem(): string | null {
    return this.#known.problem;
  }

  snapshot(): Snapshot {
    this.#snapshot ??= this.#makeSnapshot();
    return this.#snapshot;
  }

  #makeSnapshot(): Snapshot {
    const { runId, workflow, sources } = this.#request;
    if (!this.areInPlay) return { runId, workflow, sources };
    const secrets = secretsAtRest(workflow, this.#known);
    const shown = {
      runId,
      workflow: maskWorkflow(workflow, secrets),
      sources: sources.map((source) => ({ ...source, text: secrets.mask(source.text) })),
    };
    const isMasked = JSON.stringify(shown) !== JSON.stringify({ runId, workflow, sources });
    return isMasked ? { ...shown, masked: true } : shown;
  }

  /** Whether the workflow's texts contain secrets, so that the masked snapshot cannot be run. */
  get isTextMasked(): boolean {
    return this.snapshot().masked === true;
  }

  /** Masks events for storing and showing; returns the same list if there is nothing to hide. */
  mask(events: readonly RunEvent[]): readonly RunEvent[] {
    const { secrets, names } = this.#known;
    if (secrets.isEmpty && names.size === 0) return events;
    return events.map((event) => maskEvent(event, { secrets, names }));
  }

  /** Warns of secrets that cannot be masked, those found so far included. */
  warnOfShort(warn: (message: string) => void): void {
    this.#warn = warn;
    for (const name of this.#known.tooShort) this.#tooShort(name);
  }

  /** Learns the current values of secret variables. */
  learn(variables: Environment): void {
    for (const name of this.#known.names) this.#add(name, lookupIn(variables)(name) ?? '');
  }

  /** Learns the secrets a step is about to use: its own entries and the passwords of its executor. */
  learnStep(step: Step, variables: Environment, scope: Scope): void {
    this.learn(variables);
    for (const password of passwords(step)) this.#add(`password of step "${step.name}"`, expandText(password, scope));
  }

  /** Learns the secret settings of the workflow, except those that need outputs of steps. */
  learnSettings(scope: Scope): void {
    for (const { name, value } of settingSecrets(this.#request.workflow)) {
      try {
        this.#add(name, expandText(value, scope));
      } catch (error) {
        if (!(error instanceof PathProblem)) throw error;
      }
    }
  }

  /** Whether the whole value of this variable is hidden. */
  isSecret(name: string): boolean {
    return this.#known.names.has(name);
  }

  #add(name: string, value: string): void {
    if (!this.shared.add(value)) this.#tooShort(name);
  }

  #tooShort(name: string): void {
    if (this.#warned.has(name)) return;
    this.#warned.add(name);
    this.#warn(`secret "${name}" is too short to be masked where it is printed`);
  }
}
