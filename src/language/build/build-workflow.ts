import { given } from '#core/data/collections.ts';
import { parseSpan } from '#core/time-text.ts';
import {
  type HandlerKind,
  handlerName,
  type JsonObject,
  type MailSettings,
  type Notification,
  type Schedule,
  type SecretSource,
  type SmtpSettings,
  type Step,
  type Workflow,
} from '#core/workflow.ts';
import { indexByName, isChained } from '../check/check-graph.ts';
import { isSecretDeclaration } from '../declared-params.ts';
import { parseParamDefaults } from '../params.ts';
import {
  asList,
  assignments,
  commaList,
  type Presets,
  type RawDefaults,
  type RawDotenv,
  type RawMail,
  type RawNotification,
  type RawSchedule,
  type RawSecret,
  type RawStep,
  type RawWorkflow,
  type TextOrList,
} from '../raw.ts';
import type { StepEntry } from '../read/spec-file.ts';
import { parseMoment, scheduleEntries } from '../schedule-entries.ts';
import { registryAuthsOf, sharedContainer } from './build-container.ts';
import {
  fixedNumber,
  latenessOf,
  locksOf,
  notifyNumberTextsOf,
  preconditionsOf,
  runNumberTextsOf,
  runRetryOf,
  toMs,
} from './build-policies.ts';
import { buildStep, envOf, secretInputs, withArtifactsDir, withChildOutputs, withNamedStreams } from './build-step.ts';
import type { Functions } from './functions.ts';

/** Valid files, and the settings from outside. */
type BuildInput = {
  readonly root: RawWorkflow;
  /** Null without a base configuration. */
  readonly base: RawWorkflow | null;
  readonly steps: readonly StepEntry[];
  readonly functions: Functions;
  /** Absolute path; null for standard input. */
  readonly file: string | null;
  /** The `name` of a file without that key. */
  readonly defaultName: string;
  /** Absolute path, including `workingDir` if that is a plain path. */
  readonly dir: string;
  /** `workingDir` if it contains variables: the default directory of steps. */
  readonly stepDir: string | null;
  readonly group: string;
  /** The schema that declares `params`; null if none does. */
  readonly paramSchema: JsonObject | null;
  /** Absolute path of the directory of the file. */
  readonly fileDir: string;
  /** Days without scheduled starts. */
  readonly notOn: readonly string[];
  /** Apply if neither file has such a key. */
  readonly presets: Presets | null;
};

/** Builds the workflow from its files. Keys of the root override those of the base; `env` of the base comes first. */
export function buildWorkflow(input: BuildInput): Workflow {
  const { root, base } = input;
  const { logOutput, shell = null } = input.presets ?? {};
  const merged = { ...given({ logOutput }), ...mergeBase(root, base) };
  const handlers = handlersOf(input, merged);
  const notify = [...asList(base?.notify), ...asList(root.notify)].map(notificationOf);
  const notifications = notify.length === 0 ? {} : { notify };
  const texts = [handlers, notifications];
  const limits = { ...concurrency(base ?? {}), ...concurrency(root) };
  return {
    name: root.name ?? input.defaultName,
    file: input.file,
    dir: input.dir,
    group: root.group ?? input.group,
    description: merged.description ?? '',
    tags: [...new Set([...commaList(merged.tags), ...labelTags(merged.labels)])],
    schedule: scheduleOf(merged, input.notOn),
    params: parseParamDefaults(merged.params),
    ...given({
      paramSchema: input.paramSchema ?? undefined,
      runConfig: merged.runConfig && { disableParamEdit: false, disableRunIdEdit: false, ...merged.runConfig },
    }),
    ...runRetryOf(merged.retryPolicy),
    env: [...envOf(base?.env), ...envOf(root.env)],
    ...dotenvOf(input.stepDir, base?.dotenv, root.dotenv),
    secrets: withDeclared(
      [...secretsOf(base?.secrets), ...secretsOf(root.secrets)],
      [...secretParams(merged.params), ...input.steps.flatMap(({ raw }) => secretInputs(raw.approval))],
    ),
    preconditions: preconditionsOf(merged.preconditions),
    steps: withArtifactsDir(withNamedStreams(withChildOutputs(stepsOf(input, merged), texts), texts)),
    handlers,
    mailOn: {
      failure: merged.mailOn?.failure ?? false,
      success: merged.mailOn?.success ?? false,
      cancel: merged.mailOn?.cancel ?? false,
      ...(merged.mailOn?.wait ? { wait: true } : {}),
      ...(merged.mailOn?.late ? { late: true } : {}),
    },
    smtp: smtpOf(merged),
    errorMail: mailOf(merged.errorMail),
    infoMail: mailOf(merged.infoMail),
    ...given({ waitMail: mailOf(merged.waitMail) ?? undefined }),
    ...notifications,
    logDir: merged.logDir ?? null,
    histRetentionDays: merged.histRetentionDays ?? 30,
    // A file with `histRetentionDays` replaces the number of the base.
    ...given({ histRetentionRuns: (root.histRetentionDays === undefined ? merged : root).histRetentionRuns }),
    delayMs: toMs(fixedNumber(merged.delaySec) ?? 0),
    maxActiveSteps: fixedNumber(limits.maxActiveSteps) ?? 0,
    ...(limits.maxConcurrent ? { maxConcurrent: limits.maxConcurrent } : {}),
    ...given({ queue: merged.queue?.trim() }),
    ...locksOf(merged),
    ...given({ maxOutputBytes: fixedNumber(merged.maxOutputSize) }),
    ...(merged.artifacts?.maxMiB === undefined ? {} : { maxArtifactBytes: merged.artifacts.maxMiB * 2 ** 20 }),
    ...given({ artifactRetentionDays: merged.artifacts?.retentionDays }),
    timeoutMs: toMs(fixedNumber(merged.timeoutSec) ?? 0),
    ...given({ late: latenessOf(merged.late) }),
    ...runNumberTextsOf({ ...merged, maxActiveSteps: limits.maxActiveSteps }),
    restartWaitMs: toMs(merged.restartWaitSec ?? 0),
    graceMs: toMs(merged.MaxCleanUpTimeSec ?? 60),
    shell: root.shell || base?.shell || shell || 'sh',
    ...(root.shell || base?.shell ? { namesShell: true } : {}),
    ...sharedContainer(merged.container, input.fileDir),
    ...registryAuthsOf(merged.registryAuths),
  };
}

const MERGED = [
  ...(['defaults', 'runConfig', 'retryPolicy', 'handlerOn'] as const),
  ...(['mailOn', 'smtp', 'errorMail', 'infoMail', 'waitMail'] as const),
];

/** Merges the root over the base: maps of settings key by key, everything else as a whole. */
function mergeBase(root: RawWorkflow, base: RawWorkflow | null): RawWorkflow {
  if (base === null) return root;
  const merged: Record<string, unknown> = { ...base, ...root };
  for (const key of MERGED) {
    if (base[key] !== undefined || root[key] !== undefined) merged[key] = { ...base[key], ...root[key] };
  }
  return merged as RawWorkflow;
}

/** What steps and handlers have in common. */
function contextOf({ functions, stepDir, fileDir, steps }: BuildInput, merged: RawWorkflow) {
  const index = indexByName(steps);
  const nameOf = (name: string) => steps[index.get(name) ?? -1]?.name ?? name;
  const { container, logOutput, workerSelector, MaxCleanUpTimeSec } = merged;
  const ofWorkflow = { container, logOutput, workerSelector, hasGrace: MaxCleanUpTimeSec !== undefined };
  return { functions, dir: stepDir, fileDir, nameOf, ...ofWorkflow };
}

function stepsOf(input: BuildInput, merged: RawWorkflow): Step[] {
  const { steps } = input;
  const context = contextOf(input, merged);
  return steps.map((entry, at) => {
    const before = steps[at - 1];
    const chained = isChained(entry, before) ? [before?.name ?? ''] : [];
    const depends = [...new Set([...chained, ...asList(entry.raw.depends).map(context.nameOf)])];
    const { id } = entry.raw;
    const own = { ...given({ id: id === entry.name ? undefined : id }), name: entry.name ?? '', depends };
    return buildStep(withDefaults(entry.raw, merged.defaults), { ...own, ...context });
  });
}

function handlersOf(input: BuildInput, merged: RawWorkflow): Workflow['handlers'] {
  const { handlerOn } = merged;
  const context = contextOf(input, merged);
  const handler = (kind: HandlerKind) => {
    const raw = handlerOn?.[kind];
    if (raw === undefined) return null;
    return withArtifactsDir([buildStep(raw, { name: handlerName(kind), depends: [], ...context })])[0] ?? null;
  };
  const wait = handler('wait');
  return {
    success: handler('success'),
    failure: handler('failure'),
    cancel: handler('cancel'),
    exit: handler('exit'),
    ...(handlerOn?.init === undefined ? {} : { init: handler('init') }),
    // Its failure never changes the result of the run.
    ...(wait === null ? {} : { wait: { ...wait, continueOn: { ...wait.continueOn, failure: true } } }),
  };
}

/** In a file with both `maxActiveSteps` and `maxActiveRuns`, the latter limits runs, otherwise steps. */
function concurrency({
  maxActiveSteps,
  maxActiveRuns,
  maxConcurrent,
}: RawWorkflow): Pick<RawWorkflow, 'maxActiveSteps' | 'maxConcurrent'> {
  // In Dagu -1 is no limit.
  const most = maxActiveRuns === -1 ? 0 : maxActiveRuns;
  const steps = maxActiveSteps ?? most;
  const runs = maxConcurrent ?? (maxActiveSteps === undefined ? undefined : most);
  return given({ maxActiveSteps: steps, maxConcurrent: runs });
}

/** The labels of a map become tags such as `env=prod`. */
function labelTags(labels: RawWorkflow['labels']): readonly string[] {
  if (typeof labels !== 'object' || Array.isArray(labels)) return commaList(labels as TextOrList | undefined);
  return Object.entries(labels).map(([name, value]) => `${name}=${value}`);
}

function dotenvOf(dir: string | null, ...keys: readonly RawWorkflow['dotenv'][]): Pick<Workflow, 'dotenv'> {
  const files = keys
    .flatMap((key) => asList<RawDotenv>(key))
    .map((file) => {
      const { path = '', required = false, secret = false } = typeof file === 'string' ? { path: file } : file;
      return { path, required, secret, ...given({ dir: dir ?? undefined }) };
    });
  return files.length === 0 ? {} : { dotenv: files };
}

function secretsOf(secrets: RawWorkflow['secrets']): SecretSource[] {
  return asList<RawSecret>(secrets).map((secret) => {
    const { name = '', env = null, file = null } = typeof secret === 'string' ? { name: secret } : secret;
    return { name, env, file };
  });
}

function secretParams(params: RawWorkflow['params']): readonly string[] {
  const declared = Array.isArray(params) ? params.filter((entry) => typeof entry === 'object') : [];
  return declared.flatMap((entry) => (isSecretDeclaration(entry) ? [String(entry['name'])] : []));
}

/** A parameter or input that is declared as a secret counts as listed under `secrets`. */
function withDeclared(secrets: readonly SecretSource[], names: readonly string[]): SecretSource[] {
  const listed = new Set(secrets.map(({ name }) => name));
  return [...secrets, ...names.filter((name) => !listed.has(name)).map((name) => ({ name, env: null, file: null }))];
}

/** A step with the `defaults` of its workflow: keys that it does not have; `env` and `preconditions` before its own. */
function withDefaults(raw: RawStep, defaults: RawDefaults | undefined): RawStep {
  if (defaults === undefined) return raw;
  const { env, preconditions, ...rest } = defaults;
  const entries = [...assignments(env), ...assignments(raw.env)];
  return {
    ...rest,
    ...raw,
    ...(entries.length === 0 ? {} : { env: entries.map(({ name, value }) => ({ [name]: value })) }),
    preconditions: [...asList(preconditions), ...asList(raw.preconditions)],
  };
}

/** `schedule` and the keys beside it, with their defaults; `notOn`: days without scheduled starts. */
function scheduleOf(
  { schedule, timezone, overlap, skipIfSuccessful, catchup, catchupWindow }: RawWorkflow,
  notOn: readonly string[],
): Schedule {
  const windowMs = catchupWindow === undefined ? null : parseSpan(catchupWindow);
  return {
    ...expressionsOf(schedule),
    ...(notOn.length === 0 ? {} : { notOn }),
    timeZone: timezone ?? null,
    overlap: overlap ?? 'skip',
    ...(overlap === undefined ? {} : { isOverlapGiven: true as const }),
    ...(skipIfSuccessful === true ? { skipIfSuccessful } : {}),
    // A window implies that there is something to catch up on; newer programs of this family have only the window.
    catchup: catchup ?? (windowMs === null ? 'none' : 'latest'),
    catchupWindowMs: windowMs,
  };
}

function expressionsOf(schedule: RawSchedule | undefined): Pick<Schedule, 'start' | 'stop' | 'restart'> {
  const entries = scheduleEntries(schedule);
  const expressions = (wanted: 'start' | 'stop' | 'restart') =>
    entries.flatMap(({ action, entry }) => {
      if (action !== wanted) return [];
      if (typeof entry === 'string') return [entry];
      return entry.expression ?? parseMoment(entry.at ?? '')?.toISOString() ?? [];
    });
  return { start: expressions('start'), stop: expressions('stop'), restart: expressions('restart') };
}

function notificationOf(raw: RawNotification): Notification {
  const { body = null } = raw;
  return {
    to: raw.to ?? 'webhook',
    url: raw.url ?? '',
    on: raw.on === undefined ? ['failure'] : (asList(raw.on) as Notification['on']),
    title: raw.title ?? null,
    message: raw.message ?? null,
    lines: fixedNumber(raw.lines) ?? 5,
    timeoutMs: toMs(fixedNumber(raw.timeoutSec) ?? 10),
    ...notifyNumberTextsOf(raw),
    method: raw.method ?? 'POST',
    headers: Object.entries(raw.headers ?? {}).map(([name, value]) => ({ name, value })),
    body: typeof body === 'object' && body !== null ? JSON.stringify(body) : body,
    secret: raw.secret ?? null,
    priority: raw.priority ?? null,
    tags: commaList(raw.tags),
    token: raw.token ?? null,
    ...attachOf(raw),
  };
}

/** The mail server; null without one. */
function smtpOf({ smtp }: RawWorkflow): SmtpSettings | null {
  if (smtp?.host === undefined) return null;
  return { host: smtp.host, port: smtp.port ?? '25', username: smtp.username ?? null, password: smtp.password ?? null };
}

/** Sender and recipients; null if the file does not name them. */
function mailOf(mail: RawMail | undefined): MailSettings | null {
  if (mail === undefined) return null;
  return {
    from: mail.from ?? '',
    to: asList(mail.to).flatMap(commaList),
    prefix: mail.prefix ?? '',
    attachLogs: mail.attachLogs ?? false,
    ...attachOf(mail),
  };
}

function attachOf({ attach }: Pick<RawMail, 'attach'>): Pick<MailSettings, 'attach'> {
  return attach === undefined ? {} : { attach: asList(attach) };
}
