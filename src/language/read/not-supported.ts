import type { Path } from '../problem.ts';
import { canonicalKey } from './canonical-key.ts';

/** A key of the file format that is not implemented: whether it is planned, and what to use instead. */
export type NotSupported = { readonly isPlanned: boolean; readonly help: string };

/** The names of keys, several in one line, and what to write instead. */
type Table = { readonly [names: string]: string };

/** Planned keys. They are errors for now: without the key, a file would do something else than its author meant. */
const planned: { readonly [map: string]: Table } = {
  top: {
    artifacts: 'Copy the files in a command of the step.',
    otel: 'Follow the runs by "/api/v2/events" of the daemon, or send the lines of their logs ("logForwarding").',
    ssh: 'Write "executor: {type: ssh, config: ...}" in the steps.',
  },
  step: {
    artifacts: 'Copy the files in a command.',
    'sources generates method': 'Check under "preconditions" whether something has changed.',
    dotenv: 'Write "dotenv" at the top of the file, or the variables under "env".',
    otel: 'Follow the runs by "/api/v2/events" of the daemon.',
    'queue labels overlapPolicy maxOutputSize runConfig catchupWindow': 'Write it at the top of the file.',
  },
};

/** Keys of Dagu 2 that are not planned. */
const refused: { readonly [map: string]: Table } = {
  top: {
    stepTypes: 'Write "functions".',
    webhook: 'Start runs with the API.',
    's3 redis kubernetes': 'Write a command.',
    'llm harness harnesses': 'Write a step with "executor: http".',
  },
  step: {
    rewindTo: 'wf retry --from STEP runs a step and everything after it again.',
    routes: 'Give each of the alternative steps its own "preconditions".',
    'llm messages tools agent': 'Write a step with "executor: http".',
    value: 'Write a command that prints the value, with "output: NAME".',
    shellPackages: 'Write a command that installs them, or "container: {image: IMAGE}".',
  },
  approval: { rewindTo: 'Reject the step, then run again from a step: wf retry RUN --from STEP.' },
  secrets: { options: 'Write "env: NAME" or "file: PATH".' },
};

/** Advice for a key that the map at `path` does not have; null if the format has no such key. */
export function notSupportedAt(name: string, path: Path): NotSupported | null {
  const map = mapAt(path);
  if (map === null) return null;
  const canonical = canonicalKey(name);
  const help = helpIn(planned[map], canonical);
  if (help !== null) return { isPlanned: true, help };
  const instead = helpIn(refused[map], canonical);
  return instead === null ? null : { isPlanned: false, help: instead };
}

function helpIn(table: Table | undefined, canonical: string): string | null {
  const entry = Object.entries(table ?? {}).find(([names]) => names.split(' ').map(canonicalKey).includes(canonical));
  return entry?.[1] ?? null;
}

function isTable(key: string): boolean {
  return Object.hasOwn(planned, key) || Object.hasOwn(refused, key);
}

function mapAt(path: Path): string | null {
  if (path.length === 0) return 'top';
  if (path.length === 2 && (path[0] === 'steps' || path[0] === 'handlerOn')) return 'step';
  const key = path.findLast((part) => typeof part === 'string');
  return typeof key === 'string' && key !== 'step' && key !== 'top' && isTable(key) ? key : null;
}
