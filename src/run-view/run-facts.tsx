import type { ComponentChildren, JSX } from 'preact';
import { counted } from './step-text.ts';
import { MAX_TEXT, type RunView, shortened } from './view.ts';

/** Formats a timestamp. */
export type ShowMoment = (iso: string) => ComponentChildren;

const MAX_PARAMS = 200;

/** The trigger of a run. */
const triggers: Readonly<Record<RunView['run']['trigger'], string>> = {
  cli: 'the command line',
  api: 'the API',
  schedule: 'its schedule',
  workflow: 'a step of another workflow',
  retry: 'a retry after a failure',
};

type FactsProps = {
  readonly view: Pick<RunView, 'run' | 'tags'>;
  readonly moment: ShowMoment;
  /** Shown instead of the end time while a run is active. */
  readonly unfinished: ComponentChildren;
};

/** The origin and the times of a run. */
export function RunFacts({ view: { run, tags }, moment, unfinished }: FactsProps): JSX.Element {
  const { owner } = run;
  return (
    <FactList
      facts={[
        ['Run', <code key="id">{run.runId}</code>],
        ['Started by', triggers[run.trigger]],
        ['Started', moment(run.startedAt ?? run.createdAt)],
        ['Finished', run.finishedAt === null ? unfinished : moment(run.finishedAt)],
        ['File', run.file && <code>{run.file}</code>],
        ['Group', run.group],
        ['Tags', tags.join(', ')],
        ['Queue', run.queue ?? ''],
        ['Retry of', run.retryOf && <code>{run.retryOf}</code>],
        ['Retry', run.autoRetry && run.autoRetry.n > 0 && `${run.autoRetry.n} of ${run.autoRetry.limit}`],
        ['Next retry', run.autoRetry?.at && moment(run.autoRetry.at)],
        [
          'Process',
          owner && (
            <>
              {owner.pid} on <bdi>{owner.host}</bdi>
            </>
          ),
        ],
      ]}
    />
  );
}

type Fact = readonly [name: string, value: ComponentChildren];

/** Names and values; null, false and empty values are omitted. */
export function FactList({ facts }: { facts: readonly Fact[] }): JSX.Element | null {
  const known = facts.filter(([, value]) => value !== null && value !== undefined && value !== false && value !== '');
  if (known.length === 0) return null;
  return (
    <dl class="facts-list">
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The parameters of a run. */
export function RunParams({ params }: Pick<RunView['run'], 'params'>): JSX.Element | null {
  if (params.length === 0) return null;
  const left = params.length - MAX_PARAMS;
  return (
    <>
      <table class="values params">
        <caption>Parameters</caption>
        <tbody>
          {params.slice(0, MAX_PARAMS).map(({ name, value }, index) => (
            <tr key={name ?? index}>
              <th scope="row">
                <code>{name ?? `$${index + 1}`}</code>
              </th>
              <td>
                <code>{shortened(value, MAX_TEXT)}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {left > 0 && <p class="note">{counted(left, 'more parameter')}</p>}
    </>
  );
}
