import { given } from '#core/data/collections.ts';
import { parseSpan } from '#core/time-text.ts';
import { resultNames } from '#core/words/step-results.ts';
import type {
  Approval,
  ApprovalInput,
  ArtifactRule,
  Assignment,
  BackgroundStep,
  ExecutorSpec,
  Json,
  JsonObject,
  PublishedOutput,
  Readiness,
  Step,
  UpToDateRule,
} from '#core/workflow.ts';
import { os } from '#fast/os.ts';
import { declaredRule, isSecretDeclaration } from '../declared-params.ts';
import { formatParams, parseParamDefaults } from '../params.ts';
import {
  asList,
  assignments,
  executorType,
  isJsonObject,
  type NamedTexts,
  type OpenTextMap,
  type RawAction,
  type RawApproval,
  type RawArtifact,
  type RawService,
  type RawWorkflow,
  executorOf as rawExecutorOf,
  variableName,
} from '../raw.ts';
import { inContainer, inSharedContainer } from './build-container.ts';
import {
  fanOutOf,
  fixedNumber,
  locksOf,
  numberTextsOf,
  preconditionsOf,
  type RawItems,
  repeatOf,
  retryOf,
  selectorOf,
  toleranceOf,
  toMs,
} from './build-policies.ts';
import { expandCall, type Functions } from './functions.ts';

/** What a step or handler needs of its workflow. */
type StepContext = {
  readonly name: string;
  readonly id?: string;
  readonly depends: readonly string[];
  /** The name of a step by its name or id. */
  readonly nameOf: (word: string) => string;
  readonly functions: Functions;
  readonly dir: string | null;
  /** The directory of the workflow file, to which volumes are relative. */
  readonly fileDir: string;
  /** Whether the file sets `MaxCleanUpTimeSec`. */
  readonly hasGrace: boolean;
  /** The container of the workflow. */
  readonly container: RawWorkflow['container'];
  /** Those of the workflow. */
  readonly logOutput: RawWorkflow['logOutput'];
  readonly workerSelector: RawWorkflow['workerSelector'];
};

/** Default time between the stop and the kill of a step in a container, as of `docker stop`. */
const CONTAINER_GRACE_MS = 10_000;

/** Builds a valid step or handler, with every default filled in. */
export function buildStep(raw: RawAction & RawItems, context: StepContext): Step {
  const { action, args } = expandCall(raw, context.functions);
  const fanOut = fanOutOf(raw);
  const executor = executorOf(action, context);
  return {
    name: context.name,
    ...given({ id: context.id }),
    description: action.description ?? '',
    // In a container, `dir` is a directory of the container.
    dir: containerOf(action, context) === undefined ? (action.dir ?? context.dir) : context.dir,
    command: commandOf(action),
    args: action.args ?? [],
    script: action.script ?? null,
    shell: action.shell || null,
    executor,
    depends: context.depends,
    preconditions: preconditionsOf(action.preconditions),
    continueOn: toleranceOf(action.continueOn),
    retry: retryOf(action.retryPolicy),
    repeat: repeatOf(action.repeatPolicy),
    stdout: action.stdout || null,
    stderr: action.stderr || null,
    ...((action.logOutput ?? context.logOutput) === 'separate' ? { logOutput: 'separate' } : {}),
    output: typeof action.output === 'string' ? variableName(action.output) : null,
    ...publishedOf(action),
    env: [...args, ...envOf(action.env)],
    signalOnStop: (action.signalOnStop && canonicalSignal(action.signalOnStop)) || 'SIGTERM',
    timeoutMs: toMs(fixedNumber(action.timeoutSec) ?? 0),
    ...given({ lateMs: action.late === undefined ? undefined : (parseSpan(action.late) ?? undefined) }),
    ...(executor.type === 'docker' && !context.hasGrace ? { graceMs: CONTAINER_GRACE_MS } : {}),
    mailOn: {
      failure: action.mailOn?.failure ?? action.mailOnError ?? false,
      success: action.mailOn?.success ?? false,
    },
    leaveBackground: action.leaveBackground ?? false,
    ...locksOf(action),
    ...selectorOf(action.workerSelector ?? context.workerSelector),
    ...artifactsOf(action, context.nameOf),
    ...upToDateOf(action),
    ...(fanOut === null ? {} : { fanOut }),
    ...approvalOf(action.approval),
    ...serviceOf(action),
    ...numberTextsOf(action === raw ? raw : { ...raw, ...action }),
  };
}

/** An empty text beside a script names no interpreter, as if it were absent. */
function commandOf(raw: RawAction): Step['command'] {
  const { command = null, script } = raw;
  return command === '' && script !== undefined && executorType(raw) === 'command' ? null : command;
}

/** `env` in any of its forms, as assignments. */
export function envOf(env: NamedTexts | undefined): Assignment[] {
  return assignments(env).map(({ name, value }) => ({ name, value }));
}

function executorOf(raw: RawAction, context: StepContext): ExecutorSpec {
  const container = containerOf(raw, context);
  if (container !== undefined) {
    const directories = { dir: raw.dir, fileDir: context.fileDir };
    if (raw.container === undefined) return inSharedContainer(container, directories);
    return inContainer(container, { ...directories, isService: isService(raw) });
  }
  if (raw.run !== undefined) return { type: 'workflow', config: { run: raw.run, ...runParams(raw.params) } };
  const { type = 'command', config = {} } = rawExecutorOf(raw);
  return { type, config: plainConfig(config) };
}

/** The container of the step, or that of the workflow for a command or script without an executor of its own. */
function containerOf(raw: RawAction, context: StepContext): RawWorkflow['container'] {
  const { container, executor, run, command, script } = raw;
  const isShared = executor === undefined && run === undefined && (command ?? script) !== undefined;
  return container ?? (isShared ? context.container : undefined);
}

/** A text stays as written; other forms are converted to the text with the same meaning, but for `{json: TEXT}`. */
function runParams(params: string | NamedTexts | undefined): JsonObject {
  const json = jsonParams(params);
  if (json !== null) return { json };
  return { params: typeof params === 'string' ? params : formatParams(parseParamDefaults(params)) };
}

/** The text of `params: {json: TEXT}`, whose keys are the parameters; null for any other form. */
export function jsonParams(params: string | NamedTexts | undefined): string | null {
  if (!isJsonObject(params) || Object.keys(params).length !== 1) return null;
  return typeof params.json === 'string' ? params.json : null;
}

/** Converts forms allowed for convenience to the one form that executors read. */
function plainConfig(config: JsonObject): JsonObject {
  const { body, pull } = config;
  return {
    ...config,
    ...(isJsonObject(body) || Array.isArray(body) ? { body: JSON.stringify(body) } : {}),
    ...(typeof pull === 'boolean' ? { pull: pull ? 'always' : 'never' } : {}),
  };
}

/** The platform's spelling of a signal given by number, or by name in any case with or without `SIG`; else null. */
export function canonicalSignal(name: string): string | null {
  const upper = name.trim().toUpperCase();
  const wanted = upper.startsWith('SIG') ? upper : `SIG${upper}`;
  if (wanted in os().constants.signals) return wanted;
  const byNumber = Object.entries(os().constants.signals).find(([, number]) => String(number) === upper);
  return byNumber?.[0] ?? null;
}

/** All signals of the platform. */
export function signalNames(): string[] {
  return Object.keys(os().constants.signals);
}

/** Longest time until the container of a service is ready by the conditions of the container itself. */
const CONTAINER_TIMEOUT_SEC = 120;

/** Whether the step is a service. */
export function isService({ service }: RawAction): boolean {
  return service !== undefined && service !== false;
}

/** `artifacts` with its defaults, as parts of a step; empty without it. */
function artifactsOf(raw: RawAction, nameOf: StepContext['nameOf']): Pick<Step, 'artifacts' | 'placed'> {
  if (raw.artifacts === undefined) return {};
  const rules = asList<RawArtifact>(raw.artifacts).map((rule) => (typeof rule === 'string' ? { path: rule } : rule));
  const placed = rules.flatMap(({ from, to = '.' }) => (from === undefined ? [] : [{ from: nameOf(from), to }]));
  const artifacts = rules.flatMap(({ from, path = '', when = 'always', required, name }): readonly ArtifactRule[] =>
    from === undefined ? [{ path, when, ...(required === true ? { required } : {}), ...given({ name }) }] : [],
  );
  return { ...(keepsFiles(raw) ? { artifacts } : {}), ...(placed.length === 0 ? {} : { placed }) };
}

/** Whether `artifacts` has more than files of other steps. */
export function keepsFiles({ artifacts }: RawAction): boolean {
  const rules = asList<RawArtifact>(artifacts);
  const isPlaced = (rule: RawArtifact) => typeof rule !== 'string' && rule.from !== undefined;
  return artifacts !== undefined && (rules.length === 0 || !rules.every(isPlaced));
}

/** `sources` with `generates`, `method` and `cache`, as a part of a step; empty without it. */
function upToDateOf({ sources, generates, method = 'checksum', cache }: RawAction): Pick<Step, 'upToDate'> {
  if (sources === undefined) return {};
  const rule = { sources: asList<string>(sources), generates: asList<string>(generates), method };
  return { upToDate: { ...rule, ...cacheOf(cache) } };
}

function cacheOf(cache: RawAction['cache'] = false): Pick<UpToDateRule, 'cache'> {
  if (cache === false) return {};
  const { key, paths, scope = 'file' } = cache === true ? {} : cache;
  return { cache: { ...given({ key, paths: paths === undefined ? null : asList<string>(paths) }), scope } };
}

const ARTIFACTS_DIR = /\b(?:WF|DAG_RUN)_ARTIFACTS_DIR\b/;

/** Whether a step names artifacts, or mentions the directory for them. */
export function keepsArtifacts(raw: RawAction): boolean {
  return keepsFiles(raw) || ARTIFACTS_DIR.test(JSON.stringify(raw));
}

/** The steps; one that mentions the directory of its artifacts keeps what is put there. */
export function withArtifactsDir(steps: readonly Step[]): readonly Step[] {
  if (!ARTIFACTS_DIR.test(JSON.stringify(steps))) return steps;
  return steps.map((step) => {
    const isKept = step.artifacts !== undefined || step.executor.type === 'docker' || step.service !== undefined;
    return isKept || !ARTIFACTS_DIR.test(JSON.stringify(step)) ? step : { ...step, artifacts: [] };
  });
}

/** The keys of a service as a part of a step; empty for other steps. */
function serviceOf(raw: RawAction): { readonly service?: BackgroundStep } {
  if (!isService(raw)) return {};
  const { readyWhen, intervalSec, timeoutSec } = typeof raw.service === 'object' ? raw.service : {};
  const own = readyWhen === undefined ? ofContainer(raw) : readinessOf(readyWhen);
  const usualSec = readyWhen === undefined && own !== null ? CONTAINER_TIMEOUT_SEC : 60;
  return {
    service: {
      readyWhen: own,
      intervalMs: toMs(fixedNumber(intervalSec) ?? 1),
      timeoutMs: toMs(fixedNumber(timeoutSec) ?? usualSec),
    },
  };
}

function readinessOf({ command, port, http, line, healthy }: NonNullable<RawService['readyWhen']>): Readiness | null {
  if (command !== undefined) return { kind: 'command', command };
  if (port !== undefined) return { kind: 'port', port };
  if (http !== undefined) return { kind: 'http', url: http };
  if (line !== undefined) return { kind: 'line', line };
  return healthy === true ? { kind: 'healthy' } : null;
}

/** `waitFor` and `logPattern` of the service's own container have the same meaning. */
function ofContainer({ container }: RawAction): Readiness | null {
  if (typeof container !== 'object') return null;
  if (container.logPattern !== undefined) return { kind: 'line', line: `re:${container.logPattern}` };
  return container.waitFor === 'healthy' ? { kind: 'healthy' } : null;
}

/** `approval` with its defaults, as a part of a step; empty without one. */
function approvalOf(raw: boolean | RawApproval | undefined): { readonly approval?: Approval } {
  if (raw === undefined || raw === false) return {};
  const { prompt = '', required, by, timeoutSec, onTimeout = 'reject' } = raw === true ? {} : raw;
  const needed = new Set(asList(required));
  const inputs = inputsOf(raw).map((entry): ApprovalInput => {
    const name = inputName(entry);
    const { value, rule } =
      typeof entry === 'string' ? { value: '', rule: { type: 'string' as const } } : declaredRule(entry);
    const secret = typeof entry === 'object' && isSecretDeclaration(entry) ? { secret: true as const } : {};
    return { name, default: value, rule: needed.has(name) ? { ...rule, required: true } : rule, ...secret };
  });
  return { approval: { prompt, inputs, by: asList(by), timeoutMs: toMs(fixedNumber(timeoutSec) ?? 0), onTimeout } };
}

/** The entries of `input`. */
export function inputsOf(raw: boolean | RawApproval | undefined): readonly (string | OpenTextMap)[] {
  return typeof raw === 'object' ? asList(raw.input) : [];
}

/** The name of an input. */
export function inputName(entry: string | OpenTextMap): string {
  return typeof entry === 'string' ? entry : String(entry['name'] ?? '');
}

/** The names of inputs that are declared as secrets. */
export function secretInputs(raw: boolean | RawApproval | undefined): readonly string[] {
  return inputsOf(raw).flatMap((entry) =>
    typeof entry === 'object' && isSecretDeclaration(entry) ? [inputName(entry)] : [],
  );
}

/** A key of `output` as a map: what `${ID.output.KEY}` can name. */
export const OUTPUT_KEY = /^(?!__proto__$)[A-Za-z0-9_-]+$/;

/** Whether a value of `output` as a map is read after each attempt; any other value is a literal. */
export function isSource(value: Json): value is { readonly [key: string]: Json } {
  return isJsonObject(value) && Object.hasOwn(value, 'from');
}

/** The entries of a valid `output` that is a map, and those of `outputs`, as a part of a step; empty without any. */
function publishedOf({ output, outputs = [] }: RawAction): { readonly published?: readonly PublishedOutput[] } {
  const values = isJsonObject(output) ? Object.entries(output) : null;
  if (values === null && outputs.length === 0) return {};
  const declared = outputs.map(({ name = '', type }): PublishedOutput => {
    return { key: name, value: { from: 'outputs', decode: type === 'json' ? 'json' : 'text' } };
  });
  return { published: [...(values ?? []).map(([key, value]) => ({ key, value: outputValue(value) })), ...declared] };
}

const STREAM = /\$\{([A-Za-z_]\w*)\.(stdout|stderr)\b/g;

/** The steps, with the streams to whose files texts of steps, or the other `texts`, refer as `${ID.stdout}`. */
export function withNamedStreams(steps: readonly Step[], texts: readonly unknown[]): readonly Step[] {
  const named = [...JSON.stringify([steps, texts]).matchAll(STREAM)];
  if (named.length === 0) return steps;
  return steps.map((step) => {
    const names = resultNames(step);
    const isNamed = (stream: string) => named.some(([, id = '', found]) => found === stream && names.includes(id));
    const namedStreams = (['stdout', 'stderr'] as const).filter(isNamed);
    return namedStreams.length === 0 ? step : { ...step, namedStreams };
  });
}

const CHILD_OUTPUTS: PublishedOutput = { key: '*', value: { from: 'stdout', decode: 'json', select: '.outputs' } };
const REFERENCE = /\$\{([A-Za-z_]\w*)\.outputs\b/g;

/** The steps; a sub-workflow publishes its outputs if a text refers to them as `${ID.outputs.NAME}`. */
export function withChildOutputs(steps: readonly Step[], texts: readonly unknown[]): readonly Step[] {
  const isCandidate = ({ executor, output, fanOut }: Step) =>
    executor.type === 'workflow' && output === null && fanOut === undefined;
  if (!steps.some(isCandidate)) return steps;
  const names = new Set([...JSON.stringify([steps, texts]).matchAll(REFERENCE)].map(([, name]) => name));
  const isMentioned = (step: Step) => resultNames(step).some((name) => names.has(name));
  return steps.map((step) =>
    isCandidate(step) && isMentioned(step) ? { ...step, published: [CHILD_OUTPUTS, ...(step.published ?? [])] } : step,
  );
}

function outputValue(value: Json): PublishedOutput['value'] {
  if (!isSource(value)) return { literal: typeof value === 'string' ? value : JSON.stringify(value) };
  const { from, path, text, decode = 'text', select } = value as { [key: string]: string | undefined };
  return {
    ...sourceOf({ from, path, text }),
    decode: decode === 'json' || decode === 'yaml' ? decode : 'text',
    ...given({ select }),
  };
}

function sourceOf({ from, path = '', text = '' }: { readonly [key: string]: string | undefined }) {
  if (from === 'file') return { from, path } as const;
  if (from === 'text') return { from, text } as const;
  return { from: from === 'stderr' ? 'stderr' : 'stdout' } as const;
}
