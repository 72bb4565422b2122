import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { to } from '../api/address.ts';
import { hasLoggedInHere } from '../data/session.ts';
import { useTitle } from '../parts/use-title.ts';

/** Shown for an unknown address. After a login the daemon itself is asked for it. */
export function NotFound(): JSX.Element {
  useTitle('Not found');
  useEffect(() => {
    if (hasLoggedInHere) location.reload();
  }, []);
  return (
    <section class="empty">
      <h1>Not found</h1>
      <p>There is no page at this address.</p>
      <p>
        <a href={to.workflows}>All workflows</a> · <a href={to.runs}>All runs</a>
      </p>
    </section>
  );
}
