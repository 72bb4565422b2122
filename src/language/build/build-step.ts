import type { Assignment, ExecutorSpec, JsonObject, Precondition, Step } from '../../core/workflow.ts';
import { canonicalSignal } from '../check/signals.ts';
import { formatParams, parseParamDefaults } from '../params.ts';
import type { NamedTexts, RawAction, RawConditions } from '../raw.ts';
import { asList, isJsonObject } from '../raw.ts';
import { assignments, variableName } from './assignments.ts';
import type { Functions } from './functions.ts';
import { expandCall } from './functions.ts';

/**
 * What a step or handler gets from its workflow: its name, its dependencies, the functions it may call, its default
 * directory.
 */
export type StepContext = {
  readonly name: string;
  readonly depends: readonly string[];
  readonly functions: Functions;
  readonly dir: string | null;
};

/** Builds a valid step or handler, with every default filled in. */
export function buildStep(raw: RawAction, context: StepContext): Step {
  const { action, args } = expandCall(raw, context.functions);
  return {
    name: context.name,
    description: action.description ?? '',
    dir: action.dir ?? context.dir,
    command: action.command ?? null,
    args: action.args ?? [],
    script: action.script ?? null,
    shell: action.shell ?? null,
    executor: executorOf(action),
    depends: context.depends,
    preconditions: preconditionsOf(action.preconditions),
    continueOn: { failure: action.continueOn?.failure ?? false, skipped: action.continueOn?.skipped ?? false },
    retry: { limit: action.retryPolicy?.limit ?? 0, intervalMs: toMs(action.retryPolicy?.intervalSec ?? 0) },
    repeat: action.repeatPolicy?.repeat === true ? { intervalMs: toMs(action.repeatPolicy.intervalSec ?? 0) } : null,
    stdout: action.stdout ?? null,
    stderr: action.stderr ?? null,
    output: action.output === undefined ? null : variableName(action.output),
    env: [...args, ...envOf(action.env)],
    signalOnStop: canonicalSignal(action.signalOnStop ?? 'SIGTERM') ?? 'SIGTERM',
    timeoutMs: toMs(action.timeoutSec ?? 0),
    mailOn: {
      failure: action.mailOn?.failure ?? action.mailOnError ?? false,
      success: action.mailOn?.success ?? false,
    },
    leaveBackground: action.leaveBackground ?? false,
  };
}

/** Converts seconds, possibly with a fraction, to milliseconds. */
export function toMs(seconds: number): number {
  return Math.round(seconds * 1000);
}

/** `env` in any of its forms, as assignments. */
export function envOf(env: NamedTexts | undefined): Assignment[] {
  return assignments(env).map(({ name, value }) => ({ name, value }));
}

/** `preconditions` in any of their forms. */
export function preconditionsOf(conditions: RawConditions | undefined): Precondition[] {
  return asList(conditions).map((entry) => {
    const { condition = '', expected = null } = typeof entry === 'string' ? { condition: entry } : entry;
    return { condition, expected };
  });
}

function executorOf(raw: RawAction): ExecutorSpec {
  if (raw.run !== undefined) return { type: 'workflow', config: { run: raw.run, params: paramsText(raw.params) } };
  if (raw.executor === undefined) return { type: 'command', config: {} };
  if (typeof raw.executor === 'string') return { type: raw.executor, config: {} };
  return { type: raw.executor.type ?? 'command', config: plainConfig(raw.executor.config ?? {}) };
}

/** A text stays as written; other forms are converted to the text with the same meaning. */
function paramsText(params: string | NamedTexts | undefined): string {
  return typeof params === 'string' ? params : formatParams(parseParamDefaults(params));
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
