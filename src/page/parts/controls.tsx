import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

type ButtonProps = JSX.IntrinsicElements['button'] & { readonly text: ComponentChildren };

/** A button that submits no form. */
export function Button({ text, ...props }: ButtonProps) {
  return (
    <button type="button" {...props}>
      {text}
    </button>
  );
}

type TabsProps<Name extends string> = {
  readonly names: readonly Name[];
  readonly current: Name;
  readonly onChoose: (name: Name) => void;
  readonly label?: string;
  readonly keys?: readonly string[];
};

/** Tabs with their content below. */
export function Tabs<Name extends string>({ names, current, onChoose, label, keys }: TabsProps<Name>) {
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

/** An entry of a menu. */
export type MenuItem = { readonly text: string; readonly act: () => void; readonly isDisabled?: boolean };

/** A button `⋯` that opens a list of actions. */
export function Menu({ label, items }: { label: string; items: readonly MenuItem[] }) {
  const isOpen = useSignal(false);
  const menu = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const entries = () => Array.from(menu.current?.querySelectorAll<HTMLElement>('[role="menuitem"]') ?? []);
  useLayoutEffect(() => {
    if (isOpen.value) entries()[0]?.focus();
  }, [isOpen.value]);
  const close = () => {
    isOpen.value = false;
    button.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const all = entries();
    if (event.key === 'Escape') close();
    else if (step !== 0) all.at((all.indexOf(document.activeElement as HTMLElement) + step) % all.length)?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <span
      class="menu"
      onFocusOut={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget as Node | null)) isOpen.value = false;
      }}
    >
      <Button
        ref={button}
        class="plain"
        text="⋯"
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen.value}
        onClick={() => (isOpen.value = !isOpen.value)}
      />
      {isOpen.value && (
        <div ref={menu} class="menu-items card" role="menu" tabIndex={-1} aria-label={label} onKeyDown={onKeyDown}>
          {items.map(({ text, act, isDisabled = false }) => (
            <Button
              key={text}
              role="menuitem"
              class="plain"
              disabled={isDisabled}
              text={text}
              onClick={() => {
                close();
                act();
              }}
            />
          ))}
        </div>
      )}
    </span>
  );
}
