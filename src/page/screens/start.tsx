import { useEffect, useMemo } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import { pathOf, to } from '../api/address.ts';
import { followLive } from '../data/live.ts';
import { isReadOnly } from '../data/login-session.ts';
import { createResource } from '../data/resource.ts';
import { readWorkflow } from '../data/workflows/all-workflows.ts';
import { LoadingOrProblem } from '../parts/problem-box.tsx';
import { useQuery, useTitle } from '../parts/screen.tsx';
import { StartForm } from '../parts/start/start-form.tsx';

/** The start form of a workflow. A link can fill it in (`?p.DAY=2026-03-01`), but never starts a run. */
export function Start() {
  const { name = '' } = useRoute().params;
  const { route } = useLocation();
  const [query] = useQuery();
  const workflow = useMemo(() => createResource(() => readWorkflow(name)), [name]);
  useEffect(() => followLive(null, {}, () => void workflow.refresh()), [workflow]);
  const { value, problem } = workflow.known.value;
  useTitle(`Start ${value?.name ?? ''}`);
  const elsewhere = { hrefOf: to.start, list: <a href={to.workflows}>All workflows</a> };
  if (value === null)
    return <LoadingOrProblem what="Workflow" problem={problem} retry={workflow.refresh} elsewhere={elsewhere} />;
  return (
    <section class="start">
      <h1>
        Start{' '}
        <a href={to.workflow(value.id)}>
          <bdi>{value.name}</bdi>
        </a>
      </h1>
      {value.description !== '' && <p class="quiet">{value.description}</p>}
      {isReadOnly.value ? (
        <p class="empty">This login is read-only: it cannot start runs. Log out, and log in with one that can.</p>
      ) : (
        <div class="card padded">
          <StartForm workflow={value} query={query} onStarted={(runId) => route(pathOf(to.run(runId)))} />
        </div>
      )}
    </section>
  );
}
