import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StoredEvent } from '#core/run/run.ts';
import type { StoredRun } from '#store/store.ts';

/** What happened in a run: the same for two runs of a workflow that went the same way. */
export type Story = {
  /** The events of the run as a whole, in order. */
  readonly run: readonly unknown[];
  /** The events of each step, in order: those of parallel steps come in any order. */
  readonly steps: Readonly<Record<string, readonly unknown[]>>;
  /** The child run of each attempt that started one. */
  readonly children: Readonly<Record<string, Story | null>>;
  /** The lines of each log, sorted: two streams of a program may be read in any order. */
  readonly logs: Readonly<Record<string, readonly string[]>>;
};

/** The fields of events that differ between two runs of a workflow, why, and what is left of them. */
const DIFFERENT: Readonly<
  Record<string, { readonly why: string; readonly same: (value: unknown, event: StoredEvent) => unknown }>
> = {
  at: { why: 'the runs have different times', same: () => '' },
  seq: { why: 'events of parallel steps come in any order', same: () => '' },
  until: { why: 'waits have a jitter', same: (until, { at }) => (until === null ? null : tenths(Number(until) - at)) },
  process: { why: 'each process has its number', same: (process) => (process === null ? null : 'a process') },
  worker: { why: 'only the runs of an engine have workers', same: () => undefined },
  owner: { why: 'each process has its number', same: () => 'a process' },
};

/** Events that only some runs of a workflow have. */
const OPTIONAL: Readonly<Partial<Record<StoredEvent['type'], string>>> = {
  'run.delayed': 'the steps before may take longer than the delay',
};

function tenths(ms: number): string {
  return `${Math.round(ms / 100) / 10}s`;
}

const RUN_ID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** The story of a stored run; `places`: directories that differ between the runs, by the names that replace them. */
export function storyOf(
  run: StoredRun,
  places: Readonly<Record<string, string>>,
  read: (runId: string) => StoredRun | null,
): Story {
  const same = (text: string) =>
    Object.entries(places)
      .reduce((all, [name, path]) => all.replaceAll(path, `<${name}>`), text)
      .replace(RUN_ID, '<run id>');
  const steps: Record<string, unknown[]> = {};
  const ofRun: unknown[] = [];
  for (const event of run.events) {
    if (event.type in OPTIONAL) continue;
    const shown: unknown = JSON.parse(same(JSON.stringify(timeless(event))));
    const step = 'step' in event ? event.step : null;
    if (step === null) ofRun.push(shown);
    else steps[step] = [...(steps[step] ?? []), shown];
  }
  const children = run.events.flatMap((event) => {
    if (event.type !== 'step.started' || event.child === undefined) return [];
    const child = read(event.child);
    return [[`${event.step} ${event.attempt}`, child && storyOf(child, places, read)] as const];
  });
  return {
    run: ofRun,
    steps,
    children: Object.fromEntries(children),
    logs: logsIn(run.logs.directory, same),
  };
}

/** An event without what differs. */
function timeless(event: StoredEvent): object {
  const same = (name: string, value: unknown) => (name in DIFFERENT ? DIFFERENT[name]?.same(value, event) : value);
  return Object.fromEntries(Object.entries(event).map(([name, value]) => [name, same(name, value)]));
}

function logsIn(directory: string, same: (text: string) => string): Story['logs'] {
  const names = readdirSync(directory).filter((name) => !name.endsWith('.times'));
  const linesOf = (name: string) => same(readFileSync(join(directory, name), 'utf8')).split('\n');
  return Object.fromEntries(names.map((name) => [name, linesOf(name).sort()]));
}
