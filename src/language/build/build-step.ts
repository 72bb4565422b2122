import type { Assignment, ExecutorSpec, JsonObject, Step } from '#core/workflow.ts';
import { canonicalSignal } from '../check/signals.ts';
import { formatParams, parseParamDefaults } from '../params.ts';
import type { NamedTexts, RawAction, RawWorkflow } from '../raw.ts';
import { executorType, isJsonObject } from '../raw.ts';
import { approvalOf } from './approval.ts';
import { assignments, variableName } from './assignments.ts';
import { inContainer, inSharedContainer } from './build-container.ts';
import { preconditionsOf, repeatOf, retryOf, toleranceOf, toMs } from './build-policies.ts';
import { isService, serviceOf } from './build-service.ts';
import { fanOutOf, type RawItems } from './fan-out.ts';
import type { Functions } from './functions.ts';
import { expandCall } from './functions.ts';
import { fixedNumber, numberTextsOf } from './number-texts.ts';
import { publishedOf } from './published.ts';

/**
 * The parts of its workflow that a step or handler needs: its name, its dependencies, the functions it may call, its
 * default directory.
 */
export type StepContext = {
  readonly name: string;
  readonly id?: string;
  readonly depends: readonly string[];
  readonly functions: Functions;
  readonly dir: string | null;
  /** The directory of the workflow file, to which volumes are relative. */
  readonly fileDir: string;
  /** Whether the file sets `MaxCleanUpTimeSec`. */
  readonly hasGrace: boolean;
  /** The container of the workflow. */
  readonly container: RawWorkflow['container'];
  /** That of the workflow. */
  readonly logOutput: RawWorkflow['logOutput'];
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
    ...(context.id === undefined ? {} : { id: context.id }),
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
    ...(isJsonObject(action.output) ? { published: publishedOf(action.output) } : {}),
    env: [...args, ...envOf(action.env)],
    signalOnStop: (action.signalOnStop && canonicalSignal(action.signalOnStop)) || 'SIGTERM',
    timeoutMs: toMs(fixedNumber(action.timeoutSec) ?? 0),
    ...(executor.type === 'docker' && !context.hasGrace ? { graceMs: CONTAINER_GRACE_MS } : {}),
    mailOn: {
      failure: action.mailOn?.failure ?? action.mailOnError ?? false,
      success: action.mailOn?.success ?? false,
    },
    leaveBackground: action.leaveBackground ?? false,
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
    const place = { dir: raw.dir, fileDir: context.fileDir };
    if (raw.container === undefined) return inSharedContainer(container, place);
    return inContainer(container, { ...place, isService: isService(raw) });
  }
  if (raw.run !== undefined) return { type: 'workflow', config: { run: raw.run, ...runParams(raw.params) } };
  if (raw.executor === undefined) return { type: 'command', config: {} };
  if (typeof raw.executor === 'string') return { type: raw.executor, config: {} };
  return { type: raw.executor.type ?? 'command', config: plainConfig(raw.executor.config ?? {}) };
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
