import type { Json } from '#core/workflow.ts';
import type { Path } from '../diagnostic.ts';
import { isJsonObject } from '../raw.ts';
import { canonicalKey } from '../schema/schema-type.ts';

/**
 * What to write instead of keys of make-like runners, CI systems, schedulers and Dagu, by the map that they are in, and
 * instead of executors and step types. A line has several names and one advice: the documented key that takes the same
 * value; or an example of the documented key; or a sentence. `planned` and `refused` are keys of the file format that are
 * not implemented: without them a file would do something else than its author meant.
 */
const TABLES = `
[the file]
jobs tasks stages nodes dag pipeline workflows spec => steps: [{name: NAME, command: ...}]
cron on trigger triggers every interval scheduleInterval => schedule: "0 5 * * *"
parameters inputs args arguments => params: NAME=value
environment vars variables => env
concurrency parallelism maxParallel maxConcurrency parallel => maxActiveSteps: 4
timeout timeoutSeconds timeLimit timeout-minutes dagrunTimeout => timeoutSec: 3600
cwd workdir working-directory dir directory => workingDir
onFailure onError onSuccess onExit onCancel handlers hooks finally => handlerOn: {failure: {command: ...}}
retry retries => retryPolicy: {limit: 3, intervalSec: 10} retries runs of the daemon; that of a step retries the step.
title id dagId => name
defaultShell => shell
defaultArgs => defaults: {retryPolicy: {limit: 3, intervalSec: 10}}
startDate => Remove it: a schedule begins as soon as a daemon reads the file.
permissions metadata => Remove it: it has no equivalent.
services => A service is a step: {name: NAME, service: true, container: {image: IMAGE}}.
image => container: {image: IMAGE}
beforeScript afterScript => handlerOn: {init: {command: ...}, exit: {command: ...}}
version apiVersion kind => Remove it: the format has no version.
include includes import => imports
notifications notification slack => notify: {to: slack, url: $URL}
email mail => mailOn: {failure: true}
when if condition conditions => preconditions: [{condition: $NAME, expected: value}]
command cmd script run => steps: [{name: NAME, command: ...}]
tag => tags
strategy matrix => Write one step for each combination.
otel => planned - Follow the runs by "/api/v2/events" of the daemon, or send the lines of their logs ("logForwarding").
ssh => planned - Write "executor: {type: ssh, config: ...}" in the steps.
stepTypes => refused - Write "functions".
webhook => refused - Start runs with the API.
s3 redis kubernetes => refused - Write a command.
llm harness harnesses => refused - Write a step with "executor: http".

[a step]
needs dependsOn deps dependencies requires after upstream => depends
cmd bash shellCommand bashCommand => command
cwd workdir working-directory workingDirectory chdir directory => dir
timeout timeoutSeconds timeLimit timeout-minutes timeoutInMinutes executionTimeout => timeoutSec: 30
environment vars variables => env
retry retries attempts maxRetries retryCount retryDelay => retryPolicy: {limit: 3, intervalSec: 10}
repeat loop => repeatPolicy: {repeat: true, intervalSec: 10}
when if condition conditions onlyIf unless rules only except => preconditions: [{condition: $NAME, expected: value}]
continueOnError continue-on-error allowFailure ignoreErrors ignoreError => continueOn: {failure: true}
register => output: NAME
image docker => executor: {type: docker, config: {image: IMAGE}}
uses action => Write the work of the action as "command", "script" or "executor".
log logs logFile => stdout: FILE
onFailure onError onSuccess onExit finally => Handlers belong to the workflow: handlerOn: {failure: {command: ...}}
commands cmds beforeScript afterScript => script: |, with one command per line
signal stopSignal => signalOnStop
title label displayName taskId => name
stage => Stages are not needed: "depends" names the steps before a step.
triggerRule => Write "continueOn" in the steps before it; handlers run whatever happens.
services => A service is a step of its own: {name: NAME, service: true, container: {image: IMAGE}}.
pool lock mutex semaphore => locks: NAME
arguments argv => args
strategy => Write one step for each combination.
maxConcurrent concurrency => parallel: {items: [a, b], maxConcurrent: 2}
artifact artefacts upload-artifact => artifacts: dist/**
download-artifact fetchArtifacts => artifacts: {from: STEP, to: DIR}
inputs deps srcs => sources: src/**
targets outs produces => generates: bin/app
dotenv => planned - Write "dotenv" at the top of the file, or the variables under "env".
otel => planned - Follow the runs by "/api/v2/events" of the daemon.
queue labels overlapPolicy maxOutputSize runConfig catchupWindow => planned - Write it at the top of the file.
rewindTo => refused - wf retry --from STEP runs a step and everything after it again.
routes => refused - Give each of the alternative steps its own "preconditions".
llm messages tools agent => refused - Write a step with "executor: http".
value => refused - Write a command that prints the value, with "output: NAME".
stdin => refused - Read the file in the command: program < FILE.
shellPackages => refused - Write a command that installs them, or "container: {image: IMAGE}".

[retryPolicy]
times count max attempts retries maxRetries maxAttempts => limit
interval delay wait sleep intervalSeconds delaySec => intervalSec: 10

[repeatPolicy]
interval delay wait sleep every => intervalSec: 10
enabled always => repeat

[continueOn]
error errors fail failed => failure
skip => skipped

[handlerOn]
onFailure fail failed error onError => failure
onSuccess succeeded => success
onCancel cancelled canceled stop stopped => cancel
onExit finally always done => exit

[mailOn]
fail failed error => failure
succeeded => success

[container]
workdir cwd dir => workingDir
environment => env
containerName => name
networks => network: NAME
restart => restartPolicy: on-failure
dependsOn => Order steps with "depends" of the step.
entrypoint => Write the program and its arguments as the "command" of the step.
privileged => Write executor: {type: docker, config: {image: IMAGE, host: {privileged: true}}}.

[config.container]
workdir cwd dir => workingDir
environment => env

[smtp]
user login => username
pass => password
server => host

[parallel]
max concurrency maxParallel maxActive => maxConcurrent
list values => items

[approval]
rewindTo => refused - Reject the step, then run again from a step: wf retry RUN --from STEP.

[artifacts]
enabled dir retentionDays => refused - Name the files in the steps: artifacts: dist/**.

[secrets]
options => refused - Write "env: NAME" or "file: PATH".

[executor http]
url uri method => Write the method and the URL as the "command" of the step: METHOD url.
data payload => body: '{...}'

[executor docker]
volumes binds mounts => host: {binds: ["/data:/data:ro"]}
env environment => container: {env: [NAME=value]}
workingDir workdir dir user => container: {workingDir: /app, user: root}
name => containerName

[executor ssh]
username login => user
hostname server => host
keyFile identityFile privateKey => key
strictHostKey => strictHostKeyChecking
knownHostFile => Set UserKnownHostsFile in the configuration of ssh.

[executor terraform]
dir workdir cwd chdir => workingDir
command action => subcommand
variables => vars

[executor mail]
body text content => message
recipient recipients => to
sender => from

[executor names]
bash sh dash ksh zsh fish pwsh powershell => For commands and scripts of this shell, write "shell: {name}" and no executor.
python python3 node perl ruby php => Write "command: {name}", the program under "script", and no executor.
shell local exec process => A command needs no executor: remove this one.
dag subworkflow sub parallel workflow => To run another workflow, write run: NAME and no executor.
winrm => Run the command through the "ssh" executor: the machine needs an SSH server and an "sh".

[step types]
router => Give each of the alternative steps its own "preconditions".
llm agent chat harness => Write a step with "executor: http".
hitl => Write "approval: true", or a map with "prompt" and "input".
webhook terraform ansible => Write "executor: {type: {name}, config: {...}}".
`;

/** What to write instead of a name of another tool. */
export type Advice = {
  /** The documented key with the same meaning; null if there is no such key. */
  readonly key: string | null;
  /** An example of the key, or what to do; empty if the value has the same meaning under the documented key. */
  readonly text: string;
  /** Whether the name is a key of the file format that is not implemented. */
  readonly status: 'foreign' | 'planned' | 'refused';
};

let tables: ReadonlyMap<string, ReadonlyMap<string, Advice>> | null = null;

/** The advice of a table by canonical names. Most files need none: the tables are read on first use. */
function tableOf(title: string): ReadonlyMap<string, Advice> {
  tables ??= new Map(
    TABLES.trim()
      .split('\n\n')
      .map((part) => part.split('\n'))
      .map(([head = '', ...lines]) => [head.slice(1, -1), new Map(lines.flatMap(entriesOf))]),
  );
  return tables.get(title) ?? new Map();
}

function entriesOf(line: string): [string, Advice][] {
  const [names = '', advice = ''] = line.split(' => ');
  const [, status = 'foreign', text = ''] = /^(?:(planned|refused) - )?(.*)$/.exec(advice) ?? [];
  const [, key = null] = /^(\w+)(?:$|: )/.exec(text) ?? [];
  const entry = { key, text: text === key ? '' : text, status: status as Advice['status'] };
  return names.split(' ').map((name) => [canonicalKey(name), entry]);
}

/** The advice for a key that the map at `path`, the settings of the executor `type` or null, does not have; or null. */
export function adviceFor(name: string, path: Path, type: string | null = null): Advice | null {
  return tableOf(titleOf(path, type)).get(canonicalKey(name)) ?? null;
}

/** The keys of other tools for which the map at `path` has advice, in their canonical form. */
export function advisedNames(path: Path, type: string | null = null): string[] {
  return [...tableOf(titleOf(path, type)).keys()];
}

function titleOf(path: Path, type: string | null): string {
  if (type !== null) return `executor ${type}`;
  if (path.length === 0) return 'the file';
  if (path.length === 2 && (path[0] === 'steps' || path[0] === 'handlerOn')) return 'a step';
  const names = path.filter((part) => typeof part === 'string');
  return names.slice(names.at(-2) === 'config' && names.at(-1) === 'container' ? -2 : -1).join('.');
}

/** What to write instead of an unknown executor; null if there is no advice. */
export function executorAdvice(name: string): string | null {
  return textFor('executor names', name.toLowerCase());
}

function textFor(title: string, name: string): string | null {
  return tableOf(title).get(name)?.text.replace('{name}', name) ?? null;
}

/** The executor of a step type of Dagu 2; null if it runs another workflow, undefined if the type is not supported. */
export function executorOfType(type: string): string | null | undefined {
  if (/^(?:dag|subworkflow|parallel)$/.test(type)) return null;
  if (/^(?:command|docker|http|mail|ssh|jq)$/.test(type)) return type;
  if (type === 'shell') return 'command';
  return type === 'container' ? 'docker' : undefined;
}

/** Maximum length of a value in a help text, in characters; the value is written on one line of YAML. */
const LONGEST = 60;

/** How to write a value of the wrong shape: `retryPolicy: {limit: 3}` for `retryPolicy: 3`; null without advice. */
export function rightShape(path: Path, value: Json | undefined): string | null {
  const key = path.at(-1);
  if (path.length === 2 && path[0] === 'handlerOn')
    return scalar(value, (text) => `${String(key)}: {command: ${text}}`);
  if (typeof key !== 'string' || !Object.hasOwn(shapes, key)) return null;
  const shown = shapes[key]?.(value) ?? null;
  return shown === null ? null : `${key}: ${shown}`;
}

/** What to write for a list of steps that run at the same time, or of commands, as in other tools; null for other values. */
export function listHelp(path: Path, value: Json | undefined): string | null {
  if (!Array.isArray(value)) return null;
  if (!isStep(path)) return null;
  return 'List each step by itself: steps start at the same time unless "depends" or "type: chain" orders them.';
}

function isStep(path: Path): boolean {
  return path.length === 2 && path[0] === 'steps' && typeof path[1] === 'number';
}

/** How to write that there is no limit, which is -1 in other tools; null for any other value. */
export function noLimit(path: Path, value: Json | undefined): string | null {
  const isLimit = /^(?:maxActiveSteps|maxConcurrent|timeoutSec)$/.test(String(path.at(-1)));
  return isLimit && value === -1 ? 'Write 0 for no limit.' : null;
}

const yes = (value: Json | undefined): boolean => value === true || value === 'true' || value === 'yes';

const shapes: { readonly [key: string]: (value: Json | undefined) => string | null } = {
  retryPolicy: (value) => (typeof value === 'boolean' ? '{limit: 3, intervalSec: 10}' : count(value, 'limit')),
  repeatPolicy: (value) =>
    yes(value) ? '{repeat: true, intervalSec: 10}' : count(value, 'intervalSec', 'repeat: true, '),
  continueOn: (value) => (yes(value) ? '{failure: true}' : outcomes(value)),
  handlerOn: (value) => scalar(value, (text) => `{failure: {command: ${text}}}`),
  mailOn: (value) => (yes(value) ? '{failure: true}' : scalar(value, (text) => `{${text}: true}`)),
  env: (value) => scalar(value, (text) => `[${text}]`),
  steps: (value) => scalar(value, (text) => `[{name: NAME, command: ${text}}]`),
  smtp: (value) => scalar(value, (text) => `{host: ${text}}`),
  call: (value) => scalar(value, (text) => `{function: ${text}}`),
  executor: (value) => (isJsonObject(value) ? '{type: TYPE, config: {...}}' : null),
  depends: (value) => (isJsonObject(value) ? `[${Object.keys(value).join(', ')}]` : null),
  shell: (value) => (isTexts(value) ? scalar(value.join(' '), (text) => text) : null),
  script: (value) => (Array.isArray(value) ? '|, with one command per line' : null),
  args: (value) => scalar(value, (text) => `[${text}]`),
};

/** The outcomes that a list names, by their keys; a list of maps has them as keys. */
function outcomes(value: Json | undefined): string | null {
  const list: readonly Json[] = Array.isArray(value) ? value : [];
  const entries = list.flatMap((entry) => (isJsonObject(entry) ? Object.keys(entry) : [entry]));
  const keys = entries.map((entry) => (entry === 'failed' ? 'failure' : entry));
  const isKnown = keys.length > 0 && keys.every((key) => key === 'failure' || key === 'skipped');
  return isKnown ? `{${[...new Set(keys)].map((key) => `${key}: true`).join(', ')}}` : null;
}

/** Words of a command line that need no quotes. */
function isTexts(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((word) => typeof word === 'string' && /^[\w./=-]+$/.test(word));
}

function count(value: Json | undefined, key: string, before = ''): string | null {
  const isCount = typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value));
  return isCount ? `{${before}${key}: ${value}}` : null;
}

/** Fills in a scalar, quoted if YAML requires it; null if it does not fit on a line. */
function scalar(value: Json | undefined, fill: (text: string) => string): string | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const text = String(value);
  if (text.length > LONGEST || text.includes('\n')) return null;
  return fill(/^[\w./$][\w ./$=-]*$/.test(text) ? text : JSON.stringify(text));
}

/** A value of Dagu 2 that is not supported, and what to write instead. */
type RefusedValue = { readonly what: string; readonly help: string };

/** Whether the value at a path is one of Dagu 2 that is not supported, although the key is; null for all others. */
export function refusedValue(path: Path, value: Json | undefined): RefusedValue | null {
  const key = path.at(-1);
  const inStep = path[0] === 'steps' || path[0] === 'handlerOn';
  const isKey = path.length === 1 || (inStep && path.length === 3);
  if (typeof value !== 'string') return null;
  if (path.length === 1 && key === 'type' && value === 'agent') {
    return { what: '"type: agent"', help: 'Write a step with "executor: http".' };
  }
  if (isKey && inStep && key === 'type' && executorOfType(value) === undefined) {
    const help = textFor('step types', value) ?? executorAdvice(value) ?? 'Write a command.';
    return { what: `the step type "${value}"`, help };
  }
  if (path[0] !== 'secrets' || key !== 'provider') return null;
  return { what: `the provider "${value}"`, help: 'Write "env: NAME" or "file: PATH".' };
}
