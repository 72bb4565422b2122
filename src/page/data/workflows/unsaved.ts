import { signal } from '@preact/signals';

/** The destination that awaits confirmation while a text has changes; null: none. */
export const wantsToLeave = signal<(() => void) | null>(null);

/** A text under edit at an address. */
type Guard = { readonly hasChanges: () => boolean; readonly route: (url: string) => void; readonly address: string };

let guard: Guard | null = null;

/** Goes to another address, after a confirmation if unsaved changes would be lost. */
export function leaving(go: () => void): void {
  if (guard?.hasChanges()) wantsToLeave.value = go;
  else go();
}

/** Asks before the user leaves unsaved changes at this address, until the returned function is called. */
export function guardChanges(hasChanges: () => boolean, route: (url: string) => void): () => void {
  guard = { hasChanges, route, address: location.href };
  return () => {
    guard = null;
    wantsToLeave.value = null;
  };
}

/** Watches links, the back button and the closing of the tab. Call it before the router listens to the window. */
export function watchLeaving(): void {
  addEventListener('click', onClick, true);
  addEventListener('popstate', onBack);
  addEventListener('beforeunload', (event) => {
    if (guard?.hasChanges()) event.preventDefault();
  });
}

function onClick(event: MouseEvent): void {
  const link = event.composedPath().find((target) => target instanceof HTMLAnchorElement);
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (!guard?.hasChanges() || !isPlain || link === undefined || link.target !== '') return;
  if (link.origin !== location.origin || (link.hash !== '' && link.pathname === location.pathname)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  ask(guard, link.pathname + link.search + link.hash);
}

function onBack(event: PopStateEvent): void {
  if (!guard?.hasChanges()) return;
  const wanted = location.pathname + location.search;
  event.stopImmediatePropagation();
  history.pushState(null, '', guard.address);
  ask(guard, wanted);
}

function ask({ route }: Guard, address: string): void {
  wantsToLeave.value = () => route(address);
}
