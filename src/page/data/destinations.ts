import type { Workflow } from '#run-view/api/types.ts';
import { presentRunLook, type StatusLook } from '#run-view/texts.ts';
import { isBroken } from './workflows/workflow-filter.ts';

/** A destination of the palette. */
export type Destination = {
  readonly name: string;
  readonly kind: string;
  readonly address: string;
  /** The status of a run; null: not a run. */
  readonly look: StatusLook | null;
};

/** Creates the addresses of screens from names. */
export type Addresses = {
  readonly workflows: string;
  readonly runs: string;
  readonly system: string;
  readonly workflow: (id: string) => string;
  readonly start: (id: string) => string;
  readonly run: (id: string) => string;
};

const MAX_SHOWN = 12;

/** All destinations: the screens, and for each workflow its own page, its start form if it is valid, and its last run. */
export function destinations(workflows: readonly Workflow[], to: Addresses): readonly Destination[] {
  const screens = [
    { name: 'Workflows', kind: 'screen', address: to.workflows, look: null },
    { name: 'Runs', kind: 'screen', address: to.runs, look: null },
    { name: 'System', kind: 'screen', address: to.system, look: null },
  ];
  return [...screens, ...workflows.flatMap((workflow) => ownDestinations(workflow, to))];
}

function ownDestinations(workflow: Workflow, to: Addresses): readonly Destination[] {
  const { id, name, lastRun } = workflow;
  const start = { name: `Start ${name}`, kind: 'action', address: to.start(id), look: null };
  return [
    { name, kind: 'workflow', address: to.workflow(id), look: null },
    ...(isBroken(workflow) ? [] : [start]),
    ...(lastRun === null
      ? []
      : [{ name: `Last run of ${name}`, kind: 'run', address: to.run(lastRun.runId), look: presentRunLook(lastRun) }]),
  ];
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
