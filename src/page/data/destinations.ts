import type { RunHead, Workflow } from '../api/types.ts';

/** A destination of the palette. */
export type Destination = {
  readonly name: string;
  readonly kind: string;
  readonly address: string;
  readonly status: RunHead['status'] | null;
};

/** Creates the addresses of screens from names. */
export type Addresses = {
  readonly workflows: string;
  readonly runs: string;
  readonly workflow: (id: string) => string;
  readonly start: (id: string) => string;
  readonly run: (id: string) => string;
};

const MAX_SHOWN = 12;

/** All destinations: the screens, and for each workflow its own page, its start form and its last run. */
export function destinations(workflows: readonly Workflow[], to: Addresses): readonly Destination[] {
  const screens = [
    { name: 'Workflows', kind: 'screen', address: to.workflows, status: null },
    { name: 'Runs', kind: 'screen', address: to.runs, status: null },
  ];
  const own = workflows.flatMap(({ id, name, lastRun }) => [
    { name, kind: 'workflow', address: to.workflow(id), status: null },
    { name: `Start ${name}`, kind: 'action', address: to.start(id), status: null },
    ...(lastRun === null
      ? []
      : [{ name: `Last run of ${name}`, kind: 'run', address: to.run(lastRun.runId), status: lastRun.status }]),
  ]);
  return [...screens, ...own];
}

/** The first destinations whose names contain every word of the text; names that begin with it come first. */
export function matching(all: readonly Destination[], text: string): readonly Destination[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const found = all.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
  const begins = ({ name }: Destination) => words.length > 0 && name.toLowerCase().startsWith(words.join(' '));
  return [...found.filter(begins), ...found.filter((each) => !begins(each))].slice(0, MAX_SHOWN);
}
