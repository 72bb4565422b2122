import type { StepStatus } from '#core/run/run.ts';
import type { RunSummary } from '#core/summary/summary.ts';
import { literalText, references, splitBackticks } from '#core/words/interpolate.ts';
import { handlerKind, type JsonObject, type Workflow } from '#core/workflow.ts';
import { userName } from '#service/control-runs.ts';
import type { ServedWorkflows } from '#service/served.ts';
import type { AcceptedRun } from '#service/service.ts';
import type { ListedWorkflow } from '#service/workflows.ts';
import { messageOf, WfError } from '#system/errors.ts';
import type { Visitor } from './access/sessions.ts';
import { entityTag } from './reply/send.ts';
import type { ApiRequest, Reply } from './route.ts';
import type { V1Parts } from './v1/v1-parts.ts';

/**
 * Returns the run for the response to a start or retry: the new run, or an existing run for which `isSame` holds. Throws
 * a `WfError` `run-exists` if the id belongs to another run.
 */
export async function acceptedRun(
  { runId, isNew }: AcceptedRun,
  isSame: (run: RunSummary) => boolean,
  { history, runIndex }: Pick<V1Parts, 'history' | 'runIndex'>,
): Promise<RunSummary> {
  runIndex.touch();
  const run = await history.read(runId).catch((error: unknown) => {
    if (!isNew) throw error;
    // A repeated request without the id would start another run.
    throw new WfError('storage', `run ${runId} is queued, but cannot be shown now: ${messageOf(error)}`, {
      help: `check it by its id: wf status ${runId}`,
    });
  });
  if (run === null) throw new WfError('not-found', `the run "${runId}" was already removed`);
  const summary = history.summarize(run);
  if (isNew || isSame(summary)) return summary;
  throw new WfError('run-exists', `there is another run "${runId}"`, { help: 'choose another id' });
}

/** Returns a test whether a run is a start (not a retry) of the workflow of a file. */
export function isStartOf(file: string): (run: RunSummary) => boolean {
  return (run) => run.file === file && run.retryOf === null;
}

/** Returns the name under which a client answers approvals: that of its login, or of the daemon's user without logins. */
export function answererOf(visitor: Visitor): string {
  return loginOf(visitor) ?? userName();
}

/** Returns the name of a client that stops a run or marks a step: that of its login, or `the API` without logins. */
export function actorOf(visitor: Visitor): string {
  return loginOf(visitor) ?? 'the API';
}

function loginOf({ logins, user }: Visitor): string | null {
  return logins.length === 0 ? null : (user()?.name ?? 'token');
}

/** The named parameters, for forms; one that is evaluated when the run starts has `eval` and no `default`. */
export function parameterViews({ params, secrets }: Workflow): readonly JsonObject[] {
  const hidden = new Set(secrets.map(({ name }) => name));
  return params.flatMap(({ name, value, open, rule }) => {
    if (name === null) return [];
    const { type = 'string', required = false, ...limits } = rule ?? {};
    const parts = splitBackticks(value);
    const isEvaluated = references(value).length > 0 || parts.some((part) => 'command' in part);
    const isOpen = open === true || (rule !== undefined && value === '');
    const literal = parts.map((part) => ('text' in part ? literalText(part.text) : '')).join('');
    const given = { default: isOpen || isEvaluated ? null : literal, ...(isEvaluated ? { eval: value } : {}) };
    return [{ name, type, ...given, required, secret: hidden.has(name), ...limits }];
  });
}

/** The workflow of a file with masked secrets; null if the file is invalid. */
export function shownWorkflow(
  { workflow }: ListedWorkflow,
  { shown }: Pick<ServedWorkflows, 'shown'>,
): Workflow | null {
  return workflow === null ? null : shown(workflow);
}

/**
 * The text of a workflow's file, as the catalog read it. A read-only login gets it with masked secrets, and null for an
 * invalid file, whose secrets cannot be identified.
 */
export function shownSource(
  { sources, workflow }: ListedWorkflow,
  access: ApiRequest['access'],
  { shownText }: Pick<ServedWorkflows, 'shownText'>,
): string | null {
  const text = sources[0]?.text ?? null;
  if (access === 'write' || text === null) return text;
  return workflow === null ? null : shownText(text, workflow);
}

/**
 * Returns the diagnostics that a login may read, since a message can quote any value of the file. A read-only login gets
 * the messages of a valid file with masked secrets; of an invalid one only the code and position of each problem.
 */
export function shownDiagnostics(
  { workflow, diagnostics }: ListedWorkflow,
  access: ApiRequest['access'],
  { shownText }: Pick<ServedWorkflows, 'shownText'>,
): ListedWorkflow['diagnostics'] {
  if (access === 'write') return diagnostics;
  if (workflow === null) {
    return diagnostics.map((each) => {
      return { ...each, message: `${each.code} (withheld from a read-only login)`, label: '', related: [], help: null };
    });
  }
  const masked = (text: string) => shownText(text, workflow);
  return diagnostics.map((each) => {
    const { message, label, help } = each;
    return { ...each, message: masked(message), label: masked(label), help: help === null ? null : masked(help) };
  });
}

const MAX_PAGES = 32;

/** The pages of a listing of workflows, kept until a file, a run or a suspension changes, or one of them expires. */
export class PageCache {
  readonly #parts: Pick<V1Parts, 'workflows' | 'runIndex'>;
  readonly #pages = new Map<string, Reply>();
  #key = '';
  #validUntil = Number.POSITIVE_INFINITY;

  constructor(parts: Pick<V1Parts, 'workflows' | 'runIndex'>) {
    this.#parts = parts;
  }

  find(name: string, now = 0): Reply | null {
    const { workflows, runIndex } = this.#parts;
    const key = `${workflows.version()} ${runIndex.version()} ${workflows.suspensionStamp()}`;
    if (key !== this.#key || this.#pages.size > MAX_PAGES || now >= this.#validUntil) {
      this.#pages.clear();
      this.#validUntil = Number.POSITIVE_INFINITY;
    }
    this.#key = key;
    return this.#pages.get(name) ?? null;
  }

  add(name: string, text: string, validUntil = Number.POSITIVE_INFINITY): Reply {
    const body = Buffer.from(text);
    const reply = { status: 200, headers: { ETag: entityTag(body), 'Cache-Control': 'private, no-cache' }, body };
    this.#validUntil = Math.min(this.#validUntil, validUntil);
    this.#pages.set(name, reply);
    return reply;
  }
}

/** The steps of runs, newest first, as rows: those of the newest run, then of older runs only, then handlers. */
export function stepGrid(runs: readonly RunSummary[]): {
  readonly names: readonly string[];
  /** The status of each row in a run; null for a step that the run does not have. */
  readonly statusesOf: (run: RunSummary) => readonly (StepStatus | null)[];
} {
  const nodes = ({ steps, handlers }: RunSummary) => [...steps, ...handlers];
  const isHandler = (name: string) => Number(handlerKind(name) !== null);
  const found = new Set(runs.flatMap((run) => nodes(run).map(({ name }) => name)));
  const names = [...found].sort((a, b) => isHandler(a) - isHandler(b));
  const statusesOf = (run: RunSummary) => {
    const statuses = new Map(nodes(run).map(({ name, status }) => [name, status]));
    return names.map((name) => statuses.get(name) ?? null);
  };
  return { names, statusesOf };
}
