import { pathOf } from '../../api/address.ts';

/** The current address with another step, or instance `key` of a fan-out, selected; the rest stays. */
export function hrefOfStep(step: string, key?: string): string {
  const url = new URL(location.href);
  for (const key of ['attempt', 'stream', 'tab', 'item', 'pane']) url.searchParams.delete(key);
  url.searchParams.set('step', step);
  if (key !== undefined) url.searchParams.set('item', key);
  return pathOf(url.href);
}
