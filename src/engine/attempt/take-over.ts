import type { Restored, RestoredStep } from '#core/run/run.ts';
import type { ArtifactStore } from '#store/store.ts';
import type { RunRequest } from '../engine.ts';

/**
 * The results of the run being retried, with the artifacts that this run now has too; `warn` takes those that are
 * gone: all of them if the run has no store. Throws a `WfError` `storage`.
 */
export function takenOver(
  { restored, retryOf }: Pick<RunRequest, 'restored' | 'retryOf'>,
  artifacts: ArtifactStore | undefined,
  warn: (step: string, message: string) => void,
): readonly Restored[] {
  const take = (step: RestoredStep): RestoredStep => {
    const { kept, ...rest } = step;
    if (kept === undefined || retryOf === null) return rest;
    const gone = new Set(artifacts?.takeOver(retryOf, step.step, kept) ?? kept);
    const [first, ...others] = gone;
    if (first !== undefined && others.length === 0)
      warn(step.step, `the artifact "${first.path}" of run ${retryOf} is gone`);
    if (others.length > 0) warn(step.step, `its ${gone.size} artifacts in run ${retryOf} are gone`);
    return { ...rest, kept: kept.filter((file) => !gone.has(file)) };
  };
  return restored.map((one) => ('items' in one ? { ...one, instances: one.instances.map(take) } : take(one)));
}
