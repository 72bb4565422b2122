import { pathOf } from '../../api/address.ts';

/** The address of the shown run with another step chosen; everything else of it stays. */
export function hrefOfStep(step: string): string {
  const url = new URL(location.href);
  for (const key of ['attempt', 'stream', 'tab', 'item', 'pane']) url.searchParams.delete(key);
  url.searchParams.set('step', step);
  return pathOf(url.href);
}
