import { parse } from 'node:path';
import { didYouMean, nearNames } from '#language/near-names.ts';
import type { ServedWorkflows } from '#service/served.ts';
import type { ListedWorkflow } from '#service/workflows/listed-workflow.ts';
import { WfError } from '#system/errors.ts';
import { ownTurn } from '#system/turns.ts';
import type { Catalog } from './catalog.ts';

/** Creates the lookup of names in the catalog. A name is never used as a path. */
export function listedNames(
  catalog: Pick<Catalog, 'list' | 'version' | 'findNew'>,
): Pick<ServedWorkflows, 'has' | 'seek' | 'get' | 'nameOf'> {
  let version: number | null = null;
  let indexed: Index = { full: new Map(), short: new Map() };
  const names = () => {
    if (version === catalog.version()) return indexed;
    version = catalog.version();
    indexed = index(catalog.list());
    return indexed;
  };
  const has = (name: string) => names().full.has(name) || names().short.has(name);
  return {
    has,
    seek: async (name) => {
      if (has(name)) return;
      await catalog.findNew();
      // The error contains similar names: all those that shared the scan would search for them in one turn.
      if (!has(name)) await ownTurn();
    },
    get: (name) => {
      const { full, short } = names();
      const [only, ...others] = full.get(name) ?? short.get(name) ?? [];
      if (only === undefined) throw noSuchWorkflow(name, catalog.list());
      if (others.length === 0) return only;
      throw ambiguous(name, [only, ...others]);
    },
    nameOf: (workflow) => {
      const { base } = parse(workflow.file);
      return names().full.get(base)?.length === 1 ? base : `${workflow.group}/${base}`;
    },
  };
}

/** Workflows by name with extension, and without: `a.yaml` never matches `a.yaml.yaml`. */
type Index = { readonly full: WorkflowsByName; readonly short: WorkflowsByName };
type WorkflowsByName = Map<string, ListedWorkflow[]>;

function index(workflows: readonly ListedWorkflow[]): Index {
  const full: WorkflowsByName = new Map();
  const short: WorkflowsByName = new Map();
  for (const workflow of workflows) {
    const { name, base } = parse(workflow.file);
    for (const called of [base, `${workflow.group}/${base}`]) add(full, called, workflow);
    for (const called of [name, `${workflow.group}/${name}`]) add(short, called, workflow);
  }
  return { full, short };
}

function add(byName: WorkflowsByName, name: string, workflow: ListedWorkflow): void {
  const same = byName.get(name);
  if (same === undefined) byName.set(name, [workflow]);
  else same.push(workflow);
}

function noSuchWorkflow(name: string, listed: readonly ListedWorkflow[]): WfError {
  const near = nearNames(
    name,
    listed.map(({ file }) => parse(file).name),
  );
  const help = didYouMean(near);
  return new WfError('not-found', `no workflow "${name}"`, help === '' ? {} : { help });
}

function ambiguous(name: string, workflows: readonly ListedWorkflow[]): WfError {
  const names = workflows.map(({ file, group }) => `"${group}/${parse(file).name}"`).join(', ');
  return new WfError('conflict', `"${name}" is ambiguous: it matches ${workflows.length} workflows`, {
    help: `call one of them ${names}`,
  });
}
