import type { JSX } from 'preact';
import { Button } from './button.tsx';

type TabsProps<Name extends string> = {
  readonly names: readonly Name[];
  readonly current: Name;
  readonly onChoose: (name: Name) => void;
  readonly label?: string;
  /** The shortcut keys of the first tabs. */
  readonly keys?: readonly string[];
};

/** Tabs with their content below. */
export function Tabs<Name extends string>({ names, current, onChoose, label, keys }: TabsProps<Name>): JSX.Element {
  return (
    <fieldset class="tabs">
      <legend class="sr">{label ?? 'View'}</legend>
      {names.map((name, index) => (
        <Button
          key={name}
          class="tab"
          text={name}
          data-key={keys?.[index]}
          aria-pressed={name === current}
          onClick={() => onChoose(name)}
        />
      ))}
    </fieldset>
  );
}
