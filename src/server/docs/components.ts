import diagnostic from '../../../docs/reference/schemas/diagnostic.json' with { type: 'json' };
import event from '../../../docs/reference/schemas/event.json' with { type: 'json' };
import graph from '../../../docs/reference/schemas/graph.json' with { type: 'json' };
import list from '../../../docs/reference/schemas/list.json' with { type: 'json' };
import logLine from '../../../docs/reference/schemas/log-line.json' with { type: 'json' };
import runSummary from '../../../docs/reference/schemas/run-summary.json' with { type: 'json' };
import type { Json } from '../../core/workflow.ts';
import type { Schema } from './operation.ts';

/** The published schemas of `--json`, with the names of the schemas and their parts in the document. */
const published: readonly (readonly [file: string, name: string, parts: readonly string[]])[] = [
  ['run-summary.json', 'RunSummary', ['step', 'param']],
  ['event.json', 'Event', Object.keys(event.$defs).filter((part) => part !== 'step.output' && part !== 'run.summary')],
  ['diagnostic.json', 'Diagnostic', []],
  ['graph.json', 'Graph', []],
  ['log-line.json', 'LogLine', []],
  ['list.json', 'WorkflowList', ['schedule']],
];

const texts: Readonly<Record<string, unknown>> = {
  'run-summary.json': runSummary,
  'event.json': event,
  'diagnostic.json': diagnostic,
  'graph.json': graph,
  'log-line.json': logLine,
  'list.json': list,
};

/**
 * Returns the schemas that the API shares with `--json`, by their names in the document. Each has one source, so that
 * the two cannot differ.
 */
export function sharedSchemas(): Readonly<Record<string, Schema>> {
  const found = published.flatMap(([file, name, parts]) => {
    const { $schema: _, $id: __, $defs, title: ___, ...schema } = texts[file] as { readonly [key: string]: Json };
    const defined = ($defs ?? {}) as { readonly [part: string]: Schema };
    const own = parts.map((part) => [partName(name, part), defined[part] ?? {}] as const);
    return [[name, schema] as const, ...own].map(([key, value]) => [key, renamed(value, file)] as const);
  });
  const { WorkflowList: _, ...schemas } = Object.fromEntries(found);
  return { ...schemas, Event: journalEvent() };
}

/** Returns the schema of the lines of `--reporter json` that are in the journal. */
function journalEvent(): Schema {
  const names = event.oneOf.map(({ $ref }) => $ref.replace('#/$defs/', ''));
  const stored = names.filter((name) => name !== 'step.output' && name !== 'run.summary');
  return {
    description: 'An event of a run, as in its journal.',
    oneOf: stored.map((name) => ({ $ref: `#/components/schemas/${partName('Event', name)}` })),
  };
}

/** Converts references between files to references within the document. */
function renamed(value: Json, file: string): Schema {
  return JSON.parse(JSON.stringify(value), (key, each) =>
    key === '$ref' && typeof each === 'string' ? documentRef(each, file) : each,
  );
}

function documentRef(target: string, from: string): string {
  const [file, part] = target.split('#/$defs/');
  const [, name] = published.find(([known]) => known === (file || from)) ?? ['', ''];
  return `#/components/schemas/${part === undefined ? name : partName(name, part)}`;
}

/** Names a part: `step` of a RunSummary is `RunStep`, `run.created` of an Event `EventRunCreated`. */
function partName(name: string, part: string): string {
  const words = part.split('.').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  const prefix = name === 'RunSummary' ? 'Run' : name === 'WorkflowList' ? '' : name;
  return [prefix, ...words].join('');
}
