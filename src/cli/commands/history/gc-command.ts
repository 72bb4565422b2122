import { type Config, workflowDirectories } from '#config/config.ts';
import { given } from '#core/data/collections.ts';
import type { Terminal } from '#render/terminal.ts';
import { escapeControls } from '#render/text.ts';
import { type RemovedRunView, views } from '#render/views.ts';
import { type RemovedRun, type RetentionReport, type RetentionRule, requireKnownWorkflow } from '#service/history.ts';
import { getWorkflow } from '#service/workflows.ts';
import { WfError } from '#system/errors.ts';
import { type AccessOptions, reachOf, requireLocal } from '../../access/open-service.ts';
import { exitCodes } from '../../exit-codes.ts';
import { configFor, workflowReference } from '../../reference.ts';
import type { Console } from '../../terminal/console.ts';
import { spanOption } from './history-command.ts';

/** The options of `wf gc`; `name` is null for all workflows. */
type GcOptions = AccessOptions & {
  readonly name: string | null;
  readonly keep?: number;
  readonly olderThan?: string;
  readonly dryRun?: boolean;
  readonly cache?: true;
  readonly fingerprints?: true;
};

/** Removes past runs, or what is known of earlier successes, and prints their ids and the freed space. */
export async function gcCommand({ name, dryRun = false, ...options }: GcOptions, console: Console): Promise<number> {
  const asked = askedRule(options);
  const config = configFor(options);
  const instead = 'wf gc on the machine of the daemon removes its runs, as do histRetentionDays and historyKeepRuns';
  requireLocal(options, config, 'gc', instead);
  if (options.cache || options.fingerprints) return clearSuccesses({ ...options, name, dryRun }, config, console);
  const { createPast } = await import('#app/history-app.ts');
  const { createRetention } = await import('#app/retention-app.ts');
  const reach = reachOf(options, config, console);
  const directories = workflowDirectories(config);
  if (name !== null) requireKnownWorkflow(name, { ...createPast(config, { reach }), directories, reach });
  const keepRuns = config.settings.read('historyKeepRuns').value;
  const progress = createCountLine(console.errTerminal, dryRun ? 'looking at' : 'removing');
  const report = await createRetention(config, reach)
    .apply({
      rule: asked ?? { type: 'settings', keepRuns },
      workflow: name,
      dryRun,
      spare: null,
      signal: new AbortController().signal,
      progress: progress.show,
    })
    .finally(progress.clear);
  await show(report, { dryRun, json: options.json ?? false }, console);
  return report.problems.length === 0 ? exitCodes.succeeded : exitCodes.unusable;
}

/** Removes the cached results of steps, or their fingerprints, of one workflow or all. */
async function clearSuccesses(
  { name, dryRun, cache, fingerprints, json }: GcOptions & { readonly dryRun: boolean },
  config: Config,
  { out, outTerminal }: Console,
): Promise<number> {
  const { clearStepResults } = await import('#app/retention-app.ts');
  const named = name === null ? null : getWorkflow(workflowReference(name), workflowDirectories(config)).workflow;
  if (named !== null && named.file === null) throw new WfError('usage', 'name a workflow that has a file');
  const which = { cache: cache === true, fingerprints: fingerprints === true };
  const cleared = await clearStepResults(config, { ...which, file: named?.file ?? null, dryRun });
  const { bytes: freedBytes, ...counts } = cleared;
  if (json) {
    out.write(`${JSON.stringify({ dryRun, removed: [], ...counts, freedBytes, problems: [] }, null, 2)}\n`);
  } else {
    const { renderRemovedRuns } = await views.removedRuns();
    out.write(renderRemovedRuns({ runs: [], ...counts, freedBytes, dryRun }, outTerminal));
  }
  return exitCodes.succeeded;
}

function askedRule({ keep, olderThan }: Pick<GcOptions, 'keep' | 'olderThan'>): RetentionRule | null {
  if (keep === 0) {
    throw new WfError('usage', '--keep must be at least 1', { help: 'the last run of a workflow is always kept' });
  }
  if (keep === undefined && olderThan === undefined) return null;
  const olderThanMs = olderThan === undefined ? null : spanOption('--older-than', olderThan);
  return { type: 'asked', keep: keep ?? null, olderThanMs };
}

async function show(
  { removed, freedBytes, problems }: RetentionReport,
  { dryRun, json }: { readonly dryRun: boolean; readonly json: boolean },
  { out, err, outTerminal }: Console,
): Promise<void> {
  const runs = removed.map(viewOf);
  if (json) {
    out.write(`${JSON.stringify({ dryRun, removed: runs, freedBytes, problems }, null, 2)}\n`);
  } else {
    const { renderRemovedRuns } = await views.removedRuns();
    out.write(renderRemovedRuns({ runs, freedBytes, dryRun }, outTerminal));
  }
  for (const problem of problems) err.write(`wf: ${escapeControls(problem)}\n`);
}

function viewOf({ runId, status, label, time, bytes, part }: RemovedRun): RemovedRunView {
  const { workflow, group, file } = label ?? { workflow: null, group: null, file: null };
  return {
    runId,
    workflow,
    group,
    file,
    status,
    createdAt: time === 0 ? null : new Date(time).toISOString(),
    bytes,
    ...given({ part }),
  };
}

/** Short commands show nothing. */
const FIRST_AFTER_MS = 300;
const INTERVAL_MS = 100;

/** A progress counter on a terminal; elsewhere it writes nothing. */
function createCountLine({ write, isTerminal }: Pick<Terminal, 'write' | 'isTerminal'>, what: string) {
  let next = performance.now() + FIRST_AFTER_MS;
  let isShown = false;
  return {
    show: (done: number, total: number) => {
      if (!isTerminal || performance.now() < next) return;
      next = performance.now() + INTERVAL_MS;
      isShown = true;
      write(`\r${what} ${done} of ${total} runs\u001b[K`);
    },
    clear: () => {
      if (isShown) write('\r\u001b[K');
    },
  };
}
