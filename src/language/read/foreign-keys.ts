import type { Path } from '../diagnostic.ts';
import { canonicalKey } from '../schema/schema-type.ts';

/** The equivalent in `wf` of a key that other tools use. */
export type Synonym = {
  /** The documented key with the same meaning; null if there is no such key. */
  readonly key: string | null;
  /** How to write it. */
  readonly advice: string;
  /** Whether the value has the same meaning under the documented key, so that it can be read and checked as such. */
  readonly sameValue: boolean;
};

type Table = { readonly [names: string]: string | readonly [key: string | null, advice: string] };

/**
 * Keys of make-like runners, CI systems and schedulers, several names in one line. A text names the documented key
 * that takes the same value; a pair also says how to write it.
 */
const ofSteps: Table = {
  'needs dependsOn deps dependencies requires after upstream': 'depends',
  'cmd bash shellCommand bashCommand': 'command',
  'cwd workdir working-directory workingDirectory chdir directory': 'dir',
  'timeout timeoutSeconds timeLimit timeout-minutes timeoutInMinutes executionTimeout': [
    'timeoutSec',
    'timeoutSec: 30',
  ],
  'environment vars variables': 'env',
  'retry retries attempts maxRetries retryCount retryDelay': [
    'retryPolicy',
    'retryPolicy: {limit: 3, intervalSec: 10}',
  ],
  'repeat loop': ['repeatPolicy', 'repeatPolicy: {repeat: true, intervalSec: 10}'],
  'when if condition conditions onlyIf unless rules only except': [
    'preconditions',
    'preconditions: [{condition: $NAME, expected: value}]',
  ],
  'continueOnError continue-on-error allowFailure ignoreErrors ignoreError': [
    'continueOn',
    'continueOn: {failure: true}',
  ],
  'outputs register': ['output', 'output: NAME'],
  'image docker': ['executor', 'executor: {type: docker, config: {image: IMAGE}}'],
  'uses action': [null, 'Write the work of the action as "command", "script" or "executor".'],
  'log logs logFile': ['stdout', 'stdout: FILE'],
  'onFailure onError onSuccess onExit finally': [
    null,
    'Handlers belong to the workflow: handlerOn: {failure: {command: ...}}',
  ],
  'commands cmds beforeScript afterScript': ['script', 'script: |, with one command per line'],
  'signal stopSignal': 'signalOnStop',
  'title label displayName taskId': 'name',
  stage: [null, 'Stages are not needed: "depends" names the steps before a step.'],
  triggerRule: [null, 'Write "continueOn" in the steps before it; handlers run whatever happens.'],
  services: [null, 'A service is a step of its own: {name: NAME, service: true, container: {image: IMAGE}}.'],
  pool: [null, 'Limit all steps with "maxActiveSteps", or runs with "queue".'],
  'arguments argv': 'args',
  strategy: [null, 'Write one step for each combination.'],
  'maxConcurrent concurrency': ['parallel', 'parallel: {items: [a, b], maxConcurrent: 2}'],
};

const ofTheTop: Table = {
  'jobs tasks stages nodes dag pipeline workflows spec': ['steps', 'steps: [{name: NAME, command: ...}]'],
  'cron on trigger triggers every interval scheduleInterval': ['schedule', 'schedule: "0 5 * * *"'],
  'parameters inputs args arguments': ['params', 'params: NAME=value'],
  'environment vars variables': 'env',
  'concurrency parallelism maxParallel maxConcurrency parallel': ['maxActiveSteps', 'maxActiveSteps: 4'],
  'timeout timeoutSeconds timeLimit timeout-minutes dagrunTimeout': ['timeoutSec', 'timeoutSec: 3600'],
  'cwd workdir working-directory dir directory': 'workingDir',
  'onFailure onError onSuccess onExit onCancel handlers hooks finally': [
    'handlerOn',
    'handlerOn: {failure: {command: ...}}',
  ],
  'retry retries': [
    'retryPolicy',
    'retryPolicy: {limit: 3, intervalSec: 10} retries runs of the daemon; that of a step retries the step.',
  ],
  'title id dagId': 'name',
  defaultShell: 'shell',
  defaultArgs: ['defaults', 'defaults: {retryPolicy: {limit: 3, intervalSec: 10}}'],
  startDate: [null, 'Remove it: a schedule begins as soon as a daemon reads the file.'],
  'permissions metadata': [null, 'Remove it: it has no equivalent.'],
  services: [null, 'A service is a step: {name: NAME, service: true, container: {image: IMAGE}}.'],
  image: ['container', 'container: {image: IMAGE}'],
  'beforeScript afterScript': ['handlerOn', 'handlerOn: {init: {command: ...}, exit: {command: ...}}'],
  'version apiVersion kind': [null, 'Remove it: the format has no version.'],
  'include includes import': 'imports',
  'notifications notification slack': ['notify', 'notify: {to: slack, url: $URL}'],
  'email mail': ['mailOn', 'mailOn: {failure: true}'],
  'when if condition conditions': ['preconditions', 'preconditions: [{condition: $NAME, expected: value}]'],
  'command cmd script run': ['steps', 'steps: [{name: NAME, command: ...}]'],
  tag: 'tags',
  'strategy matrix': [null, 'Write one step for each combination.'],
};

const ofMaps: { readonly [map: string]: Table } = {
  retryPolicy: {
    'times count max attempts retries maxRetries maxAttempts': 'limit',
    'interval delay wait sleep intervalSeconds delaySec': ['intervalSec', 'intervalSec: 10'],
  },
  repeatPolicy: { 'interval delay wait sleep every': ['intervalSec', 'intervalSec: 10'], 'enabled always': 'repeat' },
  continueOn: { 'error errors fail failed': 'failure', skip: 'skipped' },
  handlerOn: {
    'onFailure fail failed error onError': 'failure',
    'onSuccess succeeded': 'success',
    'onCancel cancelled canceled stop stopped': 'cancel',
    'onExit finally always done': 'exit',
  },
  mailOn: { 'fail failed error': 'failure', succeeded: 'success' },
  container: {
    'workdir cwd dir': 'workingDir',
    environment: 'env',
    containerName: 'name',
    networks: ['network', 'network: NAME'],
    restart: ['restartPolicy', 'restartPolicy: on-failure'],
    dependsOn: [null, 'Order steps with "depends" of the step.'],
    entrypoint: [null, 'Write the program and its arguments as the "command" of the step.'],
    privileged: [null, 'Write executor: {type: docker, config: {image: IMAGE, host: {privileged: true}}}.'],
  },
  'config.container': { 'workdir cwd dir': 'workingDir', environment: 'env' },
  smtp: { 'user login': 'username', pass: 'password', server: 'host' },
  parallel: { 'max concurrency maxParallel maxActive': 'maxConcurrent', 'list values': 'items' },
};

/** Keys of settings, by the type of their executor. Dagu documents some of them. */
const ofSettings: { readonly [type: string]: Table } = {
  http: {
    'url uri method': [null, 'Write the method and the URL as the "command" of the step: METHOD url.'],
    'data payload': ['body', "body: '{...}'"],
  },
  docker: {
    'volumes binds mounts': ['host', 'host: {binds: ["/data:/data:ro"]}'],
    'env environment': ['container', 'container: {env: [NAME=value]}'],
    'workingDir workdir dir user': ['container', 'container: {workingDir: /app, user: root}'],
    name: 'containerName',
  },
  ssh: {
    'username login': 'user',
    'hostname server': 'host',
    'keyFile identityFile privateKey': 'key',
    strictHostKey: 'strictHostKeyChecking',
    knownHostFile: [null, 'Set UserKnownHostsFile in the configuration of ssh.'],
  },
  terraform: { 'dir workdir cwd chdir': 'workingDir', 'command action': 'subcommand', variables: 'vars' },
  mail: { 'body text content': 'message', 'recipient recipients': 'to', sender: 'from' },
};

const tables = new WeakMap<Table, ReadonlyMap<string, Synonym>>();

/**
 * The replacement for a key that the map at `path` does not have; null if `wf` has no equivalent. `type`: the executor
 * whose settings the map is, or null.
 */
export function synonymOf(name: string, path: Path, type: string | null = null): Synonym | null {
  return synonymsAt(path, type).get(canonicalKey(name)) ?? null;
}

/** The keys of other tools for which the map at `path` has advice, in their canonical form. */
export function synonymNames(path: Path, type: string | null = null): string[] {
  return [...synonymsAt(path, type).keys()];
}

function synonymsAt(path: Path, type: string | null): ReadonlyMap<string, Synonym> {
  const table = (type === null ? tableAt(path) : ofSettings[type]) ?? {};
  const indexed = tables.get(table) ?? index(table);
  tables.set(table, indexed);
  return indexed;
}

function tableAt(path: Path): Table | null {
  if (path.length === 0) return ofTheTop;
  if (path.length === 2 && (path[0] === 'steps' || path[0] === 'handlerOn')) return ofSteps;
  const [before, last] = path.slice(-2);
  const map = before === 'config' && last === 'container' ? 'config.container' : path.at(-1);
  return typeof map === 'string' && Object.hasOwn(ofMaps, map) ? (ofMaps[map] ?? null) : null;
}

function index(table: Table): ReadonlyMap<string, Synonym> {
  const entries = Object.entries(table).flatMap(([names, meaning]) => {
    const synonym: Synonym =
      typeof meaning === 'string'
        ? { key: meaning, advice: '', sameValue: true }
        : { key: meaning[0], advice: meaning[1], sameValue: false };
    return names.split(' ').map((name) => [canonicalKey(name), synonym] as const);
  });
  return new Map(entries);
}

/** A key of the file format that is not implemented: whether it is planned, and what to use instead. */
export type NotSupported = { readonly isPlanned: boolean; readonly help: string };

/** The names of keys, several in one line, and what to write instead. */
type HelpTable = { readonly [names: string]: string };

/** Planned keys. They are errors for now: without the key, a file would do something else than its author meant. */
const planned: { readonly [map: string]: HelpTable } = {
  top: {
    artifacts: 'Copy the files in a command of the step.',
    otel: 'Follow the runs by "/api/v2/events" of the daemon, or send the lines of their logs ("logForwarding").',
    ssh: 'Write "executor: {type: ssh, config: ...}" in the steps.',
  },
  step: {
    artifacts: 'Copy the files in a command.',
    'sources generates method': 'Check under "preconditions" whether something has changed.',
    dotenv: 'Write "dotenv" at the top of the file, or the variables under "env".',
    otel: 'Follow the runs by "/api/v2/events" of the daemon.',
    'queue labels overlapPolicy maxOutputSize runConfig catchupWindow': 'Write it at the top of the file.',
  },
};

/** Keys of Dagu 2 that are not planned. */
const refused: { readonly [map: string]: HelpTable } = {
  top: {
    stepTypes: 'Write "functions".',
    webhook: 'Start runs with the API.',
    's3 redis kubernetes': 'Write a command.',
    'llm harness harnesses': 'Write a step with "executor: http".',
  },
  step: {
    rewindTo: 'wf retry --from STEP runs a step and everything after it again.',
    routes: 'Give each of the alternative steps its own "preconditions".',
    'llm messages tools agent': 'Write a step with "executor: http".',
    value: 'Write a command that prints the value, with "output: NAME".',
    shellPackages: 'Write a command that installs them, or "container: {image: IMAGE}".',
  },
  approval: { rewindTo: 'Reject the step, then run again from a step: wf retry RUN --from STEP.' },
  secrets: { options: 'Write "env: NAME" or "file: PATH".' },
};

/** Advice for a key that the map at `path` does not have; null if the format has no such key. */
export function notSupportedAt(name: string, path: Path): NotSupported | null {
  const map = mapAt(path);
  if (map === null) return null;
  const canonical = canonicalKey(name);
  const help = helpIn(planned[map], canonical);
  if (help !== null) return { isPlanned: true, help };
  const instead = helpIn(refused[map], canonical);
  return instead === null ? null : { isPlanned: false, help: instead };
}

function helpIn(table: HelpTable | undefined, canonical: string): string | null {
  const entry = Object.entries(table ?? {}).find(([names]) => names.split(' ').map(canonicalKey).includes(canonical));
  return entry?.[1] ?? null;
}

function isTable(key: string): boolean {
  return Object.hasOwn(planned, key) || Object.hasOwn(refused, key);
}

function mapAt(path: Path): string | null {
  if (path.length === 0) return 'top';
  if (path.length === 2 && (path[0] === 'steps' || path[0] === 'handlerOn')) return 'step';
  const key = path.findLast((part) => typeof part === 'string');
  return typeof key === 'string' && key !== 'step' && key !== 'top' && isTable(key) ? key : null;
}

/** The executor of each step type of Dagu 2; null for the types that run another workflow. */
const executors: { readonly [type: string]: string | null } = {
  command: 'command',
  shell: 'command',
  docker: 'docker',
  container: 'docker',
  dag: null,
  subworkflow: null,
  parallel: null,
  http: 'http',
  mail: 'mail',
  ssh: 'ssh',
  jq: 'jq',
};

/** The executor of a step type of Dagu 2; null if it runs another workflow, undefined if the type is not supported. */
export function executorOfType(type: string): string | null | undefined {
  return Object.hasOwn(executors, type) ? executors[type] : undefined;
}
