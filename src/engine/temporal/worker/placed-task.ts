import type { ArtifactStore } from '#store/store.ts';
import type { StepTask } from '../../driver/step-task.ts';
import { type ArtifactsOf, readArtifactsMark } from '../protocol.ts';

const NO_STORE =
  'this worker has no directory for artifacts: start it with engineLogs, as file: with a directory of all machines';

/** The `artifacts` of a result, see `stepResult`; the texts of programs come after it. */
const ARTIFACTS_OF_RESULT =
  /^(\{"stdout":null,"stderr":null,[^{["]*(?:"[^"]*"[^{["]*)*?"artifacts":")(wf\.artifacts:[^"]*)"/;

/**
 * The task with the directories of artifacts on this machine, or why it cannot be carried out: it keeps or uses some, and the
 * worker has no store for them.
 */
export function withArtifacts(
  task: StepTask,
  store: ArtifactStore | undefined,
): StepTask | { readonly problem: string } {
  const { step, placed } = task;
  const results = Object.entries(task.results);
  const areUsed = placed !== undefined || results.some(([, result]) => ARTIFACTS_OF_RESULT.test(result));
  if (store === undefined) return areUsed || step.artifacts !== undefined ? { problem: NO_STORE } : task;
  if (!areUsed) return task;
  const pathOf = (of: ArtifactsOf | null) =>
    of === null ? null : 'step' in of ? store.pathOf(of.step) : store.ofRun(of.runId);
  const located = results.map(([name, result]) => [
    name,
    result.replace(ARTIFACTS_OF_RESULT, (_, before: string, mark: string) => {
      return `${before}${JSON.stringify(pathOf(readArtifactsMark(mark)) ?? '').slice(1)}`;
    }),
  ]);
  return {
    ...task,
    results: Object.fromEntries(located),
    ...(placed === undefined
      ? {}
      : {
          placed: placed.map((rule) => ({
            ...rule,
            directory: rule.directory === null ? null : pathOf(readArtifactsMark(rule.directory)),
          })),
        }),
  };
}
