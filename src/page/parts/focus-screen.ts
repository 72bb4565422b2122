/** Gives the focus to the screen if no element has it, so that the next `Tab` continues there. */
export function focusScreen(): void {
  if (document.activeElement === document.body)
    document.querySelector<HTMLElement>('#main')?.focus({ preventScroll: true });
}
