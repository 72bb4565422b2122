import { type Config, workflowDirectories } from '#config/config.ts';
import { given } from '#core/data/collections.ts';
import type { StepSelection } from '#core/graph.ts';
import type { Param } from '#core/run/run.ts';
import { quoteWord } from '#core/words/quote-word.ts';
import type { Workflow } from '#core/workflow.ts';
import { keepProcessSmall } from '#fast/small-process.ts';
import { escapeControls } from '#render/text.ts';
import {
  acceptParams,
  openParams,
  paramFault,
  type StartRequest,
  selectSteps,
  takesPositions,
  unsetParams,
} from '#service/start-runs.ts';
import { getWorkflow, workflowBytes } from '#service/workflows.ts';
import { WfError } from '#system/errors.ts';
import type { AccessOptions } from '../access/open-service.ts';
import { workflowReference } from '../reference.ts';
import type { Console } from '../terminal/console.ts';
import type { ForegroundOptions } from './foreground.ts';
import {
  type ApprovalOption,
  approvalPolicy,
  envFilesOf,
  givenParameters,
  type ParameterOptions,
} from './parameters.ts';

/** The options that select a part of the workflow. */
export type PartOptions = { readonly only?: readonly string[]; readonly skip?: readonly string[] };

/** What a start does while another run of the workflow is active. */
export type Overlap = 'skip' | 'wait' | 'allow';

/** The options of commands that start a run of a workflow. */
export type StartOptions = AccessOptions &
  ParameterOptions &
  ForegroundOptions &
  ApprovalOption & { readonly runId?: string; readonly detach?: true };

/** The options of `wf run`, as the command line names them. */
export type RunOptions = StartOptions &
  PartOptions & {
    readonly name: string;
    readonly dryRun?: true;
    /** Whether to prompt for parameters without a value. */
    readonly input: boolean;
    /** Whether to prompt for all parameters that are not given. */
    readonly ask?: true;
    readonly watch?: true;
    readonly watchPath?: readonly string[];
    /** Absent: as the file says. */
    readonly overlap?: Overlap;
    /** Steps that run even if they are up to date; true: all of them. */
    readonly force?: true | readonly string[];
    /** Steps that have the result of their last success. */
    readonly assumeUpToDate?: readonly string[];
    /** False: steps neither restore nor keep results. */
    readonly cache?: boolean;
  };

/** A run that is ready to start. */
export type PreparedRun = {
  readonly request: StartRequest;
  readonly config: Config;
};

/** Reads everything that a run needs, with the parameters `known` from before; null if the user cancels a prompt. */
export async function prepareRun(
  options: RunOptions,
  config: Config,
  console: Console,
  known: readonly Param[] | null = null,
): Promise<PreparedRun | null> {
  const asked = known ?? givenParameters(options);
  const directories = workflowDirectories(config);
  const reference = workflowReference(options.name);
  const collectGarbage = await keepProcessSmall(workflowBytes(reference, directories));
  const strict = config.settings.read('strict').value;
  const loaded = getWorkflow(reference, directories, { isStrict: strict });
  collectGarbage();
  const asks = options.ask ? 'all' : options.input ? 'open' : 'none';
  const prompts = await canPrompt(loaded.workflow, asks, console);
  warnOfStepName(loaded.workflow, asked, options, console);
  // Do not prompt for a run that cannot start.
  const before = acceptParams(loaded.workflow, asked, { isComplete: !prompts });
  if (asks === 'all' && !prompts && unsetParams(loaded.workflow, before).length > 0) {
    throw new WfError('usage', '--ask needs a terminal', { help: 'give parameters with -p NAME=value' });
  }
  const completed = prompts
    ? await completeParams({ workflow: loaded.workflow, known: before, asks }, console)
    : before;
  if (completed === null) return null;
  const params = acceptParams(loaded.workflow, completed);
  const selection = await selectedPart(loaded.workflow, options, console);
  const request: StartRequest = {
    ...loaded,
    params,
    envFiles: envFilesOf(options) ?? [],
    runId: options.runId ?? null,
    trigger: 'cli',
    strict,
    ...(selection === undefined ? {} : { selection }),
    ...checksOf(options),
    ...approvalPolicy({ options, config }, console),
  };
  return { request, config };
}

/** Which steps may be up to date, as a part of a request. */
export function checksOf({
  force,
  assumeUpToDate: assumed,
  cache,
}: Pick<RunOptions, 'force' | 'assumeUpToDate' | 'cache'>): Pick<StartRequest, 'force' | 'assumed' | 'isUncached'> {
  return {
    ...(force === undefined ? {} : { force: force === true ? 'all' : force }),
    ...given({ assumed, isUncached: cache === false ? true : null }),
  };
}

/** The parameters without a value for which the user is prompted; `open`: those without a default. */
type Asks = 'all' | 'open' | 'none';

/** Whether the user may be prompted for a parameter of this workflow: if there is one to ask for, and a terminal. */
async function canPrompt({ params }: Workflow, asks: Asks, console: Console): Promise<boolean> {
  if (asks === 'none' || !params.some(({ open, rule }) => asks === 'all' || open || rule?.required)) return false;
  const { isInteractive } = await import('../reporters/reporters.ts');
  return isInteractive(console);
}

/** Warns of a positional parameter that is the name of a step, or throws if the workflow takes none by position. */
export function warnOfStepName(
  workflow: Workflow,
  params: readonly Param[],
  { only, skip }: PartOptions,
  { err }: Pick<Console, 'err'>,
): void {
  if (only !== undefined || skip !== undefined) return;
  const steps = new Set(workflow.steps.flatMap(({ name, id }) => [name, ...(id === undefined ? [] : [id])]));
  const found = params.find(({ name, value }) => name === null && steps.has(value));
  if (found === undefined) return;
  const shown = escapeControls(found.value);
  const help = `--only ${quoteWord(shown)} runs that step and what it needs`;
  if (takesPositions(workflow)) err.write(`wf: "${shown}" is a parameter here, and the name of a step: ${help}\n`);
  else throw new WfError('usage', `"${shown}" is a step, and the workflow takes no parameters by position`, { help });
}

/** Returns the part of the workflow that options select, and prints which steps run without one that is left out. */
export async function selectedPart(
  workflow: Workflow,
  { only, skip }: PartOptions,
  { err }: Console,
): Promise<StepSelection | undefined> {
  if (only === undefined && skip === undefined) return undefined;
  const { selection, lines } = await selectSteps(workflow, { only, skip });
  for (const line of lines) err.write(`wf: ${escapeControls(line)}\n`);
  return selection;
}

/** Returns the given parameters, followed by those for which the user is prompted; null if the user cancels. */
async function completeParams(
  { workflow, known, asks }: { workflow: Workflow; known: readonly Param[]; asks: Asks },
  console: Console,
): Promise<readonly Param[] | null> {
  const open = new Set(openParams(workflow, known));
  const asked = unsetParams(workflow, known).filter(({ name }) => asks === 'all' || open.has(name));
  if (asked.length === 0) return known;
  const { askParams } = await import('../terminal/ask.ts');
  const secrets = new Set(workflow.secrets.map(({ name }) => name));
  const answers = await askParams({ params: asked, secrets, faultOf: (param) => paramFault(workflow, param) }, console);
  return answers === null ? null : [...known, ...answers];
}
