import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import type { Place } from './past-runs.ts';
import { type Ended, type RunningWf, startWf, wf } from './wf.ts';

/** What goes before a command to run it as if in another container. */
const own = ['unshare', '--kill-child', '--pid', '--fork', '--mount-proc'];

/** Namespaces of processes, by what is special about them. Each use makes a new one, except of that of the test itself. */
export const namespaces = {
  'the namespace of the test': [],
  'another container': own,
  'a container with its own network, name and IPC': [...own, '--net', '--uts', '--ipc'],
  'a namespace without a /proc of its own': ['unshare', '--kill-child', '--pid', '--fork'],
} as const;

export type Namespace = keyof typeof namespaces;

/** Whether this user may make namespaces here. */
export const canUnshare = spawnSync(own[0] ?? '', [...own.slice(1), 'true']).status === 0;

/** `wf` in a namespace of its own, of which it is the first process. */
export function wfIn(namespace: Namespace, { cwd, env }: Place, ...args: readonly string[]): Promise<Ended> {
  return wf(args, { cwd, env, through: namespaces[namespace] });
}

/** The same, not waited for; it is killed with the test. */
export function startIn(namespace: Namespace, { cwd, env }: Place, ...args: readonly string[]): RunningWf {
  return killedAtEnd(startWf(args, { cwd, env, through: namespaces[namespace] }));
}

/** Starts `wf` in a container that outlives it. */
export function startInLasting({ cwd, env }: Place, ...args: readonly string[]): RunningWf {
  const through = [...namespaces['another container'], 'sh', '-c', '"$@"; sleep 600', 'sh'];
  return killedAtEnd(startWf(args, { cwd, env, through }));
}

/** The number that a process in a namespace has outside, by those of its parents: `unshare`, where there is one `sh`. */
export function processOf({ pid }: RunningWf): number {
  const [child] = childrenOf(pid);
  if (child === undefined) return pid;
  const isShell = readFileSync(`/proc/${child}/comm`, 'latin1').trim() === 'sh';
  return isShell ? (childrenOf(child)[0] ?? child) : child;
}

function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1');
  return text.split(' ').filter(Boolean).map(Number);
}

function killedAtEnd(run: RunningWf): RunningWf {
  onTestFinished(async () => {
    run.kill('SIGKILL');
    await run.ended;
  });
  return run;
}
