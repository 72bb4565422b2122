import { parseSpan } from '#core/time-text.ts';
import type { Path } from '../diagnostic.ts';
import type { MapEntry, MapNode, Node } from '../read/node.ts';
import type { CustomActions } from './custom-actions.ts';
import type { Surroundings } from './foreach.ts';
import { entry, type Field, type Fields, list, type Report, scalar, textIn } from './form-nodes.ts';

/** Which steps of a document keep artifacts. */
export type KeptArtifacts = {
  /** The steps that keep a file under a path that the file names, by that path. */
  readonly writers: ReadonlyMap<string, string>;
  /** The steps with artifacts that end before a step. */
  readonly before: (step: string | null) => readonly string[];
};

/** A step that runs only if a router chooses it. */
export type Route = { readonly at: Node; readonly router: string; readonly value: Node; readonly pattern: Node };

/** What the steps of a document have in common while they are read. */
export type Reading = {
  readonly report: Report;
  /** Warns of a step in an earlier form; `path`: of the key that shows it. */
  readonly warn: (path: Path, message: string, help: string) => void;
  /** The ids of steps that ask a person; their inputs are variables. */
  readonly humans: Set<string>;
  /** The routes by the names of their steps. */
  readonly routes: Map<string, Route>;
  readonly artifacts: KeptArtifacts;
  /** What steps under `foreach` may use, and the documents of such steps. */
  readonly around: Surroundings;
  readonly loops: MapNode[];
  readonly custom: CustomActions;
};

/** A step with an action: the keys of the step and, under `with`, those of the action. */
export type ActionStep = {
  readonly name: string;
  readonly at: Node;
  readonly step: Fields;
  readonly settings: Field | null;
};

/** The settings of an action, which are taken one by one. */
export type Settings = {
  readonly action: string;
  /** The value of `action`. */
  readonly at: Node;
  /** The key `with`, or `action` without settings. */
  readonly key: Node;
  readonly given: Fields;
  readonly step: Fields;
  readonly reading: Pick<Reading, 'report' | 'humans' | 'routes' | 'artifacts'>;
};

/** The entries of a step for its action. */
export type Action = (settings: Settings) => readonly MapEntry[];

const PLACEHOLDER = '$WF_RUN_ID';

/** A setting without which the action does nothing. */
export function needed({ given, action, at, key, reading }: Settings, name: string): Node {
  const found = given.take(name);
  if (found !== null) return found.value;
  reading.report('missing-key', key, `the action "${action}" needs "${name}"`);
  // A variable that is always set: nothing else is reported about it.
  return scalar(PLACEHOLDER, at);
}

/** A path, in which `~` is the home directory. */
export function path(all: Settings, name: string): Node {
  const found = needed(all, name);
  const text = textIn(found) ?? '';
  return /^~(?:\/|$)/.test(text) ? scalar(`\${HOME}${text.slice(1)}`, found) : found;
}

/** A setting that is true or false. */
export function isSet({ given, reading }: Settings, name: string): boolean {
  const found = given.take(name);
  const text = textIn(found?.value) ?? 'false';
  if (found !== null && text !== 'true' && text !== 'false') {
    reading.report('wrong-type', found.value, `"${textIn(found.key)}" must be true or false`);
  }
  return text === 'true';
}

/** The seconds between two looks. */
export function pause(all: Settings): Node {
  return seconds(all.given.take('poll_interval')?.value ?? scalar('5', all.at));
}

/** A length such as `2m` as a number of seconds; any other text as it is. */
export function seconds(node: Node): Node {
  const spanMs = parseSpan(textIn(node) ?? '');
  return spanMs === null ? node : scalar(String(spanMs / 1000), node);
}

/** A program that is started directly, with its words. */
export function words(
  { at, given }: Settings,
  all: readonly (string | Node)[],
  unused: readonly string[] = [],
): readonly MapEntry[] {
  for (const name of unused) given.take(name);
  const nodes = all.map((word) => (typeof word === 'string' ? scalar(word, at) : word));
  return [{ key: scalar('exec', at), value: list(nodes, at) }];
}

/** A program of `sh` on this machine, whose arguments are the values: none of them is read as code. */
export function program({ action, at }: Settings, code: string, args: readonly Node[]): readonly MapEntry[] {
  return [
    entry('executor', at, scalar('command', at)),
    // The first line is shown when the step starts.
    entry('script', at, scalar(`#!/bin/sh\naction=${action}\nset -e\n${code}\n`, at)),
    entry('args', at, list(args, at)),
  ];
}
