import { unifiedMergeView } from '@codemirror/merge';
import type { Extension } from '@codemirror/state';

/** Another text to compare with; `isTheirs`: each difference has buttons that choose a side. */
export type Comparison = { readonly text: string; readonly isTheirs: boolean };

/** Shows how the text in an editor differs from another one. */
export function differences({ text, isTheirs }: Comparison): Extension {
  const controls = (type: 'accept' | 'reject', action: (event: MouseEvent) => void) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'cm-button';
    button.textContent = type === 'accept' ? 'Keep mine' : 'Take theirs';
    button.onclick = action;
    return button;
  };
  return unifiedMergeView({
    original: text,
    mergeControls: isTheirs ? controls : false,
    ...(isTheirs ? {} : { collapseUnchanged: { margin: 3, minSize: 6 } }),
  });
}
