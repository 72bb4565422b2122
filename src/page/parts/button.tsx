import type { ComponentChildren, JSX } from 'preact';

type ButtonProps = JSX.IntrinsicElements['button'] & { readonly text: ComponentChildren };

/** A button that submits no form. */
export function Button({ text, ...props }: ButtonProps): JSX.Element {
  return (
    <button type="button" {...props}>
      {text}
    </button>
  );
}
