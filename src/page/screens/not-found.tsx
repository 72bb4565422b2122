import type { JSX } from 'preact';
import { to } from '../api/address.ts';
import { useTitle } from '../parts/use-title.ts';

/** An address that the page does not have. */
export function NotFound(): JSX.Element {
  useTitle('Not found');
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
