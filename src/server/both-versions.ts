import type { RunSummary } from '#core/summary/summary.ts';
import { literalText, references, splitBackticks } from '#core/words/interpolate.ts';
import type { JsonObject, Workflow } from '#core/workflow.ts';
import { userName } from '#service/control-runs.ts';
import type { History } from '#service/history.ts';
import type { ServedRuns } from '#service/served.ts';
import type { AcceptedRun } from '#service/service.ts';
import type { ListedWorkflow } from '#service/workflows.ts';
import { messageOf, WfError } from '#system/errors.ts';
import type { Visitor } from './access/sessions.ts';
import type { ApiRequest } from './route.ts';

/** The dependencies of reading an accepted run. */
type AcceptedParts = {
  readonly history: Pick<History, 'read' | 'summarize'>;
  readonly runIndex: Pick<ServedRuns, 'touch'>;
};

/**
 * Returns the run for the response to a start or retry: the new run, or an existing run for which `isSame` holds. Throws
 * a `WfError` `run-exists` if the id belongs to another run.
 */
export async function acceptedRun(
  { runId, isNew }: AcceptedRun,
  isSame: (run: RunSummary) => boolean,
  { history, runIndex }: AcceptedParts,
): Promise<RunSummary> {
  runIndex.touch();
  const run = await history.read(runId).catch((error: unknown) => {
    throw isNew ? unreadable(runId, error) : error;
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

/** Creates the error for a stored run that cannot be read: a repeated request without its id would start another run. */
function unreadable(runId: string, error: unknown): WfError {
  const why = messageOf(error);
  return new WfError('storage', `run ${runId} is queued, but cannot be shown now: ${why}`, {
    help: `check it by its id: wf status ${runId}`,
  });
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

/**
 * The named parameters with their accepted values, for forms. `default`: null if the file has none, or one that is
 * evaluated when the run starts, which is `eval` then.
 */
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

type Shown = Pick<ListedWorkflow, 'workflow' | 'diagnostics'>;

/**
 * Returns the diagnostics that a login may read, since a message can quote any value of the file. A read-only login gets
 * the messages of a valid file with masked secrets; of an invalid file, whose secrets cannot be identified, it gets only
 * the code and position of each problem.
 */
export function shownDiagnostics(
  { workflow, diagnostics }: Shown,
  access: ApiRequest['access'],
  { shownText }: { readonly shownText: (text: string, workflow: Workflow) => string },
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
