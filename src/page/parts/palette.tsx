import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { StatusIcon } from '#run-view/components.ts';
import { pathOf, to } from '../api/address.ts';
import { type Destination, destinations, matching } from '../data/destinations.ts';
import { readWorkflows, workflows } from '../data/workflows/all-workflows.ts';
import { leaving } from '../data/workflows/unsaved.ts';
import { useModal } from './dialog.tsx';

/** Finds a workflow, its last run or a screen by a few letters. `given`: the initial text. */
export function Palette({ given, onClose }: { given: string; onClose: () => void }) {
  const { route } = useLocation();
  const dialog = useModal({ onClose });
  const text = useSignal(given);
  const chosen = useSignal(0);
  useEffect(() => {
    if (workflows.value === null) void readWorkflows();
  }, []);
  const found = matching(destinations(workflows.value ?? [], to), text.value);
  const go = (destination: Destination | undefined) => {
    if (destination === undefined) return;
    onClose();
    leaving(() => route(pathOf(destination.address)));
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter') go(found[chosen.value]);
    else if (event.key === 'ArrowDown') chosen.value = Math.min(found.length - 1, chosen.value + 1);
    else if (event.key === 'ArrowUp') chosen.value = Math.max(0, chosen.value - 1);
    else return;
    event.preventDefault();
  };
  return (
    <dialog ref={dialog} class="palette" aria-label="Go to">
      <input
        type="text"
        role="combobox"
        aria-label="Go to a workflow or a run"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found.length === 0 ? undefined : `palette-${chosen.value}`}
        placeholder="Go to a workflow or a run"
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          chosen.value = 0;
        }}
        onKeyDown={onKey}
      />
      <div id="palette-list" role="listbox" aria-label="Places">
        {found.map((destination, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above takes the keys
          <div
            key={destination.address}
            id={`palette-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen.value}
            onClick={() => go(destination)}
          >
            {destination.look !== null && <StatusIcon look={destination.look} />}
            <bdi>{destination.name}</bdi>
            <span class="quiet">{destination.kind}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && <p class="note">Nothing matches.</p>}
    </dialog>
  );
}
