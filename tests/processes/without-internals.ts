import { vi } from 'vitest';

/** Lets Node refuse its internals, as with `--pending-deprecation` or in a version without them. */
export function withoutInternals(): void {
  vi.spyOn(process as unknown as { binding: () => unknown }, 'binding').mockImplementation(() => {
    throw new Error('no internals here');
  });
}
