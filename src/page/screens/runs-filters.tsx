import type { JSX } from 'preact';
import { triggerWords } from '../parts/trigger-words.ts';

type FiltersProps = {
  readonly query: Readonly<Record<string, string>>;
  readonly change: (changes: Record<string, string>) => void;
};

const statuses = ['failed', 'running', 'waiting', 'queued', 'succeeded', 'partially_succeeded', 'canceled', 'skipped'];
const durations = { 10: '10 seconds', 60: '1 minute', 600: '10 minutes', 3600: '1 hour' };

/** The filters of the list of runs. */
export function RunFilters({ query, change }: FiltersProps): JSX.Element {
  const text = (name: string, label: string, kind = 'find') => (
    <input
      type="search"
      class={kind}
      aria-label={label}
      placeholder={label}
      value={query[name] ?? ''}
      onChange={(event) => change({ [name]: event.currentTarget.value.trim() })}
    />
  );
  const choice = (name: string, label: string, options: readonly (readonly [value: string, text: string])[]) => (
    <select
      aria-label={label}
      value={query[name] ?? ''}
      onChange={(event) => change({ [name]: event.currentTarget.value })}
    >
      <option value="">{`Every ${label.toLowerCase()}`}</option>
      {options.map(([value, word]) => (
        <option key={value} value={value}>
          {word}
        </option>
      ))}
    </select>
  );
  const day = (name: string, label: string) => (
    <label>
      {label}{' '}
      <input
        type="date"
        value={query[name] ?? ''}
        onChange={(event) => change({ [name]: event.currentTarget.value })}
      />
    </label>
  );
  return (
    <search class="filters">
      {text('workflow', 'Workflow')}
      {text('text', 'Id, parameter or error')}
      {text('tag', 'Tag', 'find short')}
      {text('queue', 'Queue', 'find short')}
      {choice(
        'status',
        'Status',
        statuses.map((status) => [status, status === 'waiting' ? 'awaiting approval' : status.replace('_', ' ')]),
      )}
      {choice('trigger', 'Trigger', Object.entries(triggerWords))}
      {choice(
        'longer',
        'Duration',
        Object.entries(durations).map(([seconds, word]) => [seconds, `over ${word}`]),
      )}
      <span class="days">
        {day('from', 'From')}
        {day('to', 'To')}
      </span>
    </search>
  );
}

/** The start of a day, in the selected time zone; empty if the text is not a date. */
export function startOfDay(day: string, utc: boolean): string {
  const at = new Date(`${day}T00:00:00${utc ? 'Z' : ''}`);
  return /^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(at.getTime()) ? at.toISOString() : '';
}

/** The end of a day, likewise. */
export function endOfDay(day: string, utc: boolean): string {
  const start = startOfDay(day, utc);
  if (start === '') return '';
  const next = new Date(start);
  if (utc) next.setUTCDate(next.getUTCDate() + 1);
  else next.setDate(next.getDate() + 1);
  return new Date(next.getTime() - 1).toISOString();
}
