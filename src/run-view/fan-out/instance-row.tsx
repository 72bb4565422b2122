import type { StepView } from '../api/types.ts';
import type { Instance, Unfolding } from '../texts.ts';

/** `ship[north]` below `ship`: only the part in brackets is visible. */
export function InstanceName({ instance: { name, key } }: { instance: Instance }) {
  return (
    <bdi title={name}>
      <span class="sr">{name.slice(0, -key.length - 2)}</span>[{key}]
    </bdi>
  );
}

/** Shows and hides the instances of a fan-out. */
export function FoldButton({ step, unfolding }: { step: StepView; unfolding: Unfolding }) {
  return (
    <button
      type="button"
      class="fold plain"
      aria-expanded={unfolding.names.has(step.name)}
      aria-label={`Instances of ${step.name}`}
      onClick={() => unfolding.toggle(step.name)}
    >
      <svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">
        <path d="M3 1l4 4-4 4z" />
      </svg>
    </button>
  );
}
