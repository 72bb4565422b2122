import type { Node } from '../read/node.ts';
import type { Route } from './action-steps.ts';
import { entriesOf } from './dagu-3-actions.ts';
import { entry, type Field, Fields, type Report, scalar, textIn } from './form-nodes.ts';

/** What an action takes under `with`. */
export type ActionSettings = {
  /** Its own settings, in snake case. */
  readonly names: readonly string[];
  readonly required: readonly string[];
  /** Those that are true or false. */
  readonly flags: readonly string[];
  /** The definitions in the schema of workflow files of which it takes the settings too, such as `executor-http`. */
  readonly others: readonly string[];
};

/** Records which settings an action asks for; each is given as a text, but those that are `missing`. */
class Probe extends Fields {
  readonly asked = new Map<string, Field>();
  readonly #missing: (name: string) => boolean;

  constructor(missing: (name: string) => boolean) {
    super([]);
    this.#missing = missing;
  }

  override get(name: string): Field | null {
    const field = this.asked.get(name) ?? { key: scalar(name, NOWHERE), value: scalar('0', NOWHERE) };
    this.asked.set(name, field);
    return this.#missing(name) ? null : field;
  }
}

const NOWHERE = { start: 0, end: 0 };

/** The settings of an action of `actionNames`, from what its reader asks for. */
export function settingsOf(action: string): ActionSettings {
  const look = (missing: (name: string) => boolean) => {
    const given = new Probe(missing);
    const problems: { readonly code: string; readonly at: Node }[] = [];
    const report: Report = (code, at) => problems.push({ code, at });
    const [at, step] = [
      scalar(action, NOWHERE),
      new Fields([entry('id', scalar('id', NOWHERE), scalar('a', NOWHERE))]),
    ];
    const artifacts = { writers: new Map<string, string>(), before: () => ['a'] };
    const reading = { report, humans: new Set<string>(), routes: new Map<string, Route>(), artifacts };
    const entries = entriesOf({ action, at, key: at, given, step, reading });
    return { asked: given.asked, problems, entries: new Fields(entries) };
  };
  const [none, all] = [look(() => true), look(() => false)];
  const names = [...new Set([...none.asked.keys(), ...all.asked.keys()])];
  const isNeeded = (name: string) =>
    look((other) => other === name).problems.some(({ code }) => code === 'missing-key');
  const isFlag = (name: string) =>
    all.problems.some(({ code, at }) => code === 'wrong-type' && at === all.asked.get(name)?.value);
  const executor = none.entries.get('executor')?.value;
  const type = executor?.kind === 'map' ? textIn(new Fields(executor.entries).get('type')?.value) : null;
  const isContainer = none.entries.get('container') !== null;
  return {
    names: isContainer ? [...names, 'container_name', 'pull'] : names,
    required: names.filter(isNeeded),
    flags: names.filter(isFlag),
    others: isContainer ? ['container', 'executor-docker'] : type === null ? [] : [`executor-${type}`],
  };
}
