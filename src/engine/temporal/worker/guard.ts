import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { ProcessIdentity } from '#core/run/run.ts';
import { tryOr } from '#system/errors.ts';
import type { BackgroundProcesses, RunMark } from '../../engine.ts';

/** The first process of an attempt at a step. */
type StepLeader = ProcessIdentity & { readonly step: string };

/** A run on a worker: what its processes are found by. */
export type GuardedRun = { readonly mark: RunMark; readonly leaders: readonly StepLeader[] };

const BEAT_MS = 500;
/** A worker that is silent for so long cannot make attempts any more. */
const SILENCE_MS = 3000;
/** A guard that died sooner is replaced after this time, any other at once. */
const RESTART_MS = 1000;

/** What ends the programs of runs on this machine. `removeContainers`: of dead owners, from these Docker daemons. */
export type RunEnders = BackgroundProcesses & {
  readonly removeContainers?: (daemons: readonly string[]) => Promise<unknown>;
};

/** How a guard is reached: its standard input and output. */
export type GuardStreams = { readonly stdin: Writable; readonly stdout: Readable };

/** A guard that runs: the reports that it got and answered. */
type RunningGuard = { readonly out: Writable; readonly since: number; sent: number; answered: number };

/** The worker's side of its guard: reports what there is to end, and that the worker lives. Replaces a guard that died. */
export class GuardReports {
  readonly #start: () => GuardStreams;
  #guard: RunningGuard | null = null;
  #isClosed = false;
  /** The kills of guards that have died, then those of this one. */
  #kills = { earlier: 0, own: 0 };
  readonly #waiting = new Set<() => void>();
  readonly #runs = new Map<string, { readonly mark: RunMark; readonly leaders: StepLeader[] }>();
  readonly #timer: NodeJS.Timeout;

  constructor(start: () => GuardStreams) {
    this.#start = start;
    this.#open();
    this.#timer = setInterval(() => this.#send(), BEAT_MS).unref();
  }

  enter(mark: RunMark): void {
    this.#runs.set(mark.runId, { mark, leaders: [] });
    this.#send();
  }

  add(runId: string, leader: StepLeader): void {
    this.#runs.get(runId)?.leaders.push(leader);
    this.#send();
  }

  leave(runId: string): void {
    this.#runs.delete(runId);
  }

  /** How often guards may have ended all processes, since the worker was silent. */
  get kills(): number {
    return this.#kills.earlier + this.#kills.own;
  }

  /** Asks the guard; resolves to `kills`. */
  async ask(): Promise<number> {
    this.#send();
    const guard = this.#guard;
    const line = guard?.sent ?? 0;
    while (guard !== null && guard === this.#guard && guard.answered < line) {
      await new Promise<void>((look) => this.#waiting.add(look));
    }
    return this.kills;
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#guard?.out.end();
  }

  #open(): void {
    const { stdin, stdout } = this.#start();
    const guard: RunningGuard = { out: stdin, since: performance.now(), sent: 0, answered: 0 };
    this.#guard = guard;
    // A guard that died is noticed by its output.
    stdin.on('error', () => {});
    const lines = createInterface({ input: stdout });
    lines.on('line', (kills) => {
      guard.answered += 1;
      this.#kills = { ...this.#kills, own: Number(kills) };
      this.#look();
    });
    lines.on('close', () => this.#replace(guard));
    this.#send();
  }

  /** A dead guard may have killed before, and did not say so. */
  #replace({ since }: RunningGuard): void {
    this.#guard = null;
    this.#kills = { earlier: this.kills + 1, own: 0 };
    this.#look();
    if (this.#isClosed) return;
    const isOld = performance.now() - since > RESTART_MS;
    setTimeout(() => this.#isClosed || this.#open(), isOld ? 0 : RESTART_MS).unref();
  }

  #look(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const look of waiting) look();
  }

  #send(): void {
    if (this.#guard === null) return;
    this.#guard.sent += 1;
    this.#guard.out.write(`${JSON.stringify([...this.#runs.values()])}\n`);
  }
}

/**
 * Ends the processes of a worker that has died or is silent for 3 s, so that another worker may repeat its attempts.
 * Answers each report with how often it did so. Resolves when the worker has gone.
 */
export async function guardWorker(input: Readable, output: Writable, processes: RunEnders): Promise<void> {
  // The worker may be gone.
  output.on('error', () => {});
  let runs: readonly GuardedRun[] = [];
  let kills = 0;
  let ending: Promise<unknown> = Promise.resolve();
  const endAll = () => {
    const all = runs;
    kills += 1;
    ending = ending.then(() => Promise.all(all.map((run) => endRun(run, processes))));
  };
  let silence = setTimeout(endAll, SILENCE_MS);
  const lines = createInterface({ input });
  lines.on('line', (line) => {
    clearTimeout(silence);
    silence = setTimeout(endAll, SILENCE_MS);
    runs = JSON.parse(line) as readonly GuardedRun[];
    void ending.then(() => output.write(`${kills}\n`));
  });
  await once(lines, 'close');
  clearTimeout(silence);
  endAll();
  await ending;
}

/** Beside the logs of a run: the steps whose processes are left alone. */
const SPARED = 'spared.json';

/** Notes, for the guard and the next worker, the steps that have ended and whose processes are left alone. */
export function noteSpared({ logs }: Pick<RunMark, 'logs'>, steps: ReadonlySet<string>): void {
  writeFileSync(join(dirname(logs), SPARED), JSON.stringify([...steps]), { mode: 0o600 });
}

/** Beside the logs of a run: the Docker daemons that have containers of its steps. */
const DAEMONS = 'daemons.json';

/** Notes, for the guard and the next worker, where containers of the run are. */
export function noteDaemons({ logs }: Pick<RunMark, 'logs'>, daemons: ReadonlySet<string>): void {
  writeFileSync(join(dirname(logs), DAEMONS), JSON.stringify([...daemons]), { mode: 0o600 });
}

function notedIn({ logs }: RunMark, file: string): readonly string[] {
  const noted: unknown = tryOr([], () => JSON.parse(readFileSync(join(dirname(logs), file), 'utf8')));
  return Array.isArray(noted) ? noted.map(String) : [];
}

/**
 * Kills the processes of a run on this machine but for those of steps that leave them, and removes its containers; repeated, since one may have started
 * another meanwhile.
 */
export async function endRun(
  { mark, leaders }: GuardedRun,
  { find, end, removeContainers }: RunEnders,
): Promise<number> {
  const ended = new Set<number>();
  const spared = new Set(notedIn(mark, SPARED));
  const recorded = leaders.filter(({ step }) => !spared.has(step));
  for (let round = 0; round < 5; round += 1) {
    const found = find(mark, { recorded, spared, since: null });
    if (found.length === 0) break;
    for (const { pid } of found) ended.add(pid);
    await end(found, { signal: 'SIGKILL', graceMs: 0 });
  }
  const daemons = notedIn(mark, DAEMONS);
  if (daemons.length > 0) await removeContainers?.(daemons);
  return ended.size;
}
