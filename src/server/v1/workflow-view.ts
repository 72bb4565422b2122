import { dirname } from 'node:path';
import type { Param } from '#core/run/run.ts';
import type { HandlerKind, JsonObject, Workflow } from '#core/workflow.ts';
import { formatParams } from '#language/formats.ts';
import { diagnosticText } from '#render/data-views.ts';
import type { ListedWorkflow } from '#service/workflows.ts';
import { parameterViews, shownDiagnostics } from '../both-versions.ts';
import type { ApiRequest } from '../route.ts';
import { preconditionViews, stepView } from './status-view.ts';
import type { V1Parts } from './v1-parts.ts';

/** Returns the file of a workflow. `File` is its name in the API. */
export function fileView(listed: ListedWorkflow, access: ApiRequest['access'], parts: V1Parts): object {
  const error = errorOf(listed, access, parts);
  return { File: parts.workflows.nameOf(listed), Dir: dirname(listed.file), Error: error, ErrorT: error };
}

/** Returns the errors of a workflow as one text; null if it is valid. */
export function errorOf(listed: ListedWorkflow, access: ApiRequest['access'], parts: V1Parts): string | null {
  if (listed.workflow !== null) return null;
  const errors = shownDiagnostics(listed, access, parts.workflows).filter(({ severity }) => severity === 'error');
  return errors.map(diagnosticText).join('; ');
}

type Subject = Pick<ListedWorkflow, 'name' | 'group'>;

/** Returns a workflow for listings; for an invalid workflow (null) only name and group are known. */
export function workflowView({ name, group }: Subject, workflow: Workflow | null): object {
  const params = defaultParams(workflow);
  // Clients of this API can parse only cron expressions, so starts at a single moment are left out.
  const starts = workflow?.schedule.start ?? [];
  return {
    Name: name,
    Group: workflow?.group ?? group,
    Description: workflow?.description ?? '',
    Tags: tagsOf(workflow),
    Params: params.map((param) => formatParams([param])),
    DefaultParams: formatParams(params),
    Schedule: starts.filter((expression) => !/^\d{4}-/.test(expression)).map((Expression) => ({ Expression })),
  };
}

/** Returns a workflow with its steps. `workflow`: with secrets masked as required. */
export function workflowDetailView(listed: Subject & Pick<ListedWorkflow, 'file'>, workflow: Workflow | null): object {
  return {
    Location: listed.file,
    ...workflowView(listed, workflow),
    ParamDefs: workflow === null ? [] : parameterViews(workflow).map(capitalized),
    Env: (workflow?.env ?? []).map(({ name, value }) => `${name}=${value}`),
    LogDir: workflow?.logDir ?? '',
    HandlerOn: handlersView(workflow),
    Steps: (workflow?.steps ?? []).map((step) => stepView(step, workflow?.dir ?? '')),
    Delay: (workflow?.delayMs ?? 0) * 1_000_000,
    HistRetentionDays: workflow?.histRetentionDays ?? 30,
    Preconditions: preconditionViews(workflow?.preconditions ?? []),
    MaxActiveRuns: workflow?.maxActiveSteps ?? 0,
  };
}

/** The same object with the keys of v1: `Name` instead of `name`. */
function capitalized(view: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(view).map(([key, value]) => [`${key.charAt(0).toUpperCase()}${key.slice(1)}`, value]),
  );
}

/** Returns the tags of a workflow, in lower case. */
export function tagsOf(workflow: Workflow | null): readonly string[] {
  return [...new Set((workflow?.tags ?? []).map((tag) => tag.toLowerCase()))];
}

/** Returns the default parameters of a run. */
export function defaultParams(workflow: Workflow | null): readonly Param[] {
  return (workflow?.params ?? []).map(({ name, value }) => ({ name, value }));
}

function handlersView(workflow: Workflow | null): object {
  const view = (kind: HandlerKind) => {
    const handler = workflow?.handlers[kind] ?? null;
    return workflow === null || handler === null ? null : stepView(handler, workflow.dir);
  };
  return { Success: view('success'), Failure: view('failure'), Cancel: view('cancel'), Exit: view('exit') };
}
