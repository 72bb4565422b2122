import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Workflow } from '#run-view/api/types.ts';
import { to } from '../../api/address.ts';
import { api, ask } from '../../api/client.ts';
import { isReadOnly } from '../../data/daemon.ts';
import { Diagnostics } from './diagnostics.tsx';

/** The row of a broken file: its problems, with the source lines if the login may read them. */
export function BrokenFile({ workflow }: { workflow: Workflow }): JSX.Element {
  const text = useSignal<string | null>(null);
  const { id, file, diagnostics } = workflow;
  const name = file.slice(file.lastIndexOf('/') + 1);
  useEffect(() => {
    const asked = ask(api.GET('/api/v2/workflows/{name}', { params: { path: { name: id } } }));
    asked.then(
      ({ definition }) => {
        text.value = definition;
      },
      // Without the text only the problems are shown.
      () => {},
    );
  }, [id]);
  return (
    <li class="row broken">
      <span class="sign" aria-hidden="true">
        ⚠
      </span>
      <div>
        <a class="name" href={to.workflow(id)}>
          <bdi>{name}</bdi>
        </a>
        <Diagnostics diagnostics={diagnostics} text={text.value} />
      </div>
      {!isReadOnly.value && (
        <a class="button" href={to.edit(id)} aria-label={`Edit ${name}`}>
          Edit
        </a>
      )}
    </li>
  );
}
