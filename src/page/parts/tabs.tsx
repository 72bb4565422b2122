import type { JSX } from 'preact';

type TabsProps<Name extends string> = {
  readonly names: readonly Name[];
  readonly current: Name;
  readonly onChoose: (name: Name) => void;
  readonly label?: string;
};

/** Buttons of which one is chosen, and what it leads to is shown below. */
export function Tabs<Name extends string>({ names, current, onChoose, label }: TabsProps<Name>): JSX.Element {
  return (
    <fieldset class="tabs">
      <legend class="sr">{label ?? 'View'}</legend>
      {names.map((name) => (
        <button key={name} type="button" class="tab" aria-pressed={name === current} onClick={() => onChoose(name)}>
          {name}
        </button>
      ))}
    </fieldset>
  );
}
