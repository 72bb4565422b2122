import type { JSX } from 'preact';
import { runLook } from '../../render/report/status-look.ts';
import { shortId } from '../../render/text/short-id.ts';
import { to } from '../api/address.ts';
import type { RunHead } from '../api/types.ts';
import { StatusIcon } from './status-icon.tsx';
import { Ago, Took } from './time.tsx';

/** A run in a list. */
export function RunRow({ run, isOfOne = false }: { run: RunHead; isOfOne?: boolean }): JSX.Element {
  const look = runLook(run.status);
  const params = run.params.map(({ name, value }) => (name === null ? value : `${name}=${value}`)).join(' ');
  return (
    <li class="row run-row">
      <StatusIcon look={look} label={look.word} />
      <span class="what">
        <a class="name" href={to.run(run.runId)}>
          <bdi>{isOfOne ? shortId(run.runId) : run.workflow}</bdi>
        </a>
        {!isOfOne && <code class="quiet">{shortId(run.runId)}</code>}
        {run.error !== null && <span class="about">{run.error}</span>}
        {run.error === null && params !== '' && <span class="about">{params}</span>}
      </span>
      <span class="trigger quiet">
        {run.trigger === 'cli' ? 'command line' : run.trigger}
        {run.retryOf !== null && ', retry'}
      </span>
      <span class="last">
        <Ago at={run.createdAt} />
      </span>
      <Took ms={run.durationMs} since={run.startedAt} />
    </li>
  );
}
