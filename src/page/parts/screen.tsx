import { signal } from '@preact/signals';
import type { ComponentType, FunctionComponent } from 'preact';
import { useEffect } from 'preact/hooks';
import { ErrorBoundary, lazy, useLocation } from 'preact-iso';

/** Sets the title of the browser's tab. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · wf`;
  }, [title]);
}

/** Changes the query of the address without a new history entry. `hash`: the fragment; default: the present one. */
type ChangeQuery = (changes: Record<string, string>, hash?: string) => void;

/** Returns the query of the address, and a function that changes it. */
export function useQuery(): readonly [Readonly<Record<string, string>>, ChangeQuery] {
  const { query, path, route } = useLocation();
  const change: ChangeQuery = (changes, hash = location.hash) => {
    const kept = Object.entries({ ...query, ...changes }).filter(([, value]) => value !== '');
    const search = new URLSearchParams(kept).toString();
    route((search === '' ? path : `${path}?${search}`) + hash, true);
  };
  return [query, change];
}

/** Placeholders during loading; the style sheet shows them after a delay. */
export function Loading() {
  return (
    <div class="loading" aria-busy="true">
      <span class="sr">Loading</span>
      <i />
      <i />
      <i />
    </div>
  );
}

/** A component that is loaded when it is first drawn; until then its place is empty. */
export function onDemand<Props extends object>(load: () => Promise<ComponentType<Props>>): FunctionComponent<Props> {
  const Part = lazy(load);
  return (props) => (
    <ErrorBoundary>
      <Part {...props} />
    </ErrorBoundary>
  );
}

/** Gives the focus to the screen if no element has it, so that the next `Tab` continues there. */
export function focusScreen(): void {
  if (document.activeElement === document.body)
    document.querySelector<HTMLElement>('#main')?.focus({ preventScroll: true });
}

/**
 * Keeps the focus near an element that is removed or disabled while it has it: gives it to the nearest element around.
 * Without this the document has the focus, and a screen reader starts again at the top of the page.
 */
export function keepFocus(): void {
  let last: Element | null = null;
  let around: readonly HTMLElement[] = [];
  document.addEventListener('focusin', ({ target }) => {
    last = target instanceof Element ? target : null;
    around = last === null ? [] : elementsAround(last);
  });
  // A click beside all controls takes the focus from them.
  document.addEventListener('pointerdown', () => {
    last = null;
  });
  const follow = () => {
    if (last === null || (last.isConnected && !last.matches(':disabled'))) return;
    const { activeElement } = document;
    const isLost = activeElement === document.body || activeElement === last;
    last = null;
    if (isLost) focusOn(around.find((each) => each.isConnected));
  };
  new MutationObserver(follow).observe(document, {
    childList: true,
    subtree: true,
    attributes: true,
    attributeFilter: ['disabled'],
  });
}

/** The elements around one, from the inside, up to the screen or a dialog. */
function elementsAround(element: Element): readonly HTMLElement[] {
  const found: HTMLElement[] = [];
  for (let each = element.parentElement; each !== null && each !== document.body; each = each.parentElement) {
    if (each instanceof HTMLElement) found.push(each);
  }
  return found;
}

/** Gives the focus to an element that may not be a control. */
function focusOn(element: HTMLElement | undefined): void {
  if (element === undefined) return;
  if (!element.hasAttribute('tabindex')) {
    element.tabIndex = -1;
    element.addEventListener('blur', () => element.removeAttribute('tabindex'), { once: true });
  }
  element.focus({ preventScroll: true });
}

const text = signal('');

/** Announces a message to screen readers, politely: the end of a run, a failure. */
export function announce(said: string): void {
  text.value = said;
}

/** The only live region of the page. */
export function Announcer() {
  return (
    <div class="sr" role="status" aria-live="polite">
      {text}
    </div>
  );
}
