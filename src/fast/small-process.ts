import { uses } from './accelerators.ts';

/** From this size of a file (some hundred steps) saving memory is worth its two milliseconds. */
const WORTHWHILE_BYTES = 16 * 1024;
/** From this size (some thousand steps) the two collections are worth their time, that of twenty steps. */
const COLLECTED_BYTES = 256 * 1024;

/** The last flag: the heap may grow by half of what is used before garbage is collected. */
const daemonFlags = ['--semi-space-growth-factor=1', '--heap-growing-percent=50'];
/** The defaults of V8. */
const usualDaemonFlags = ['--semi-space-growth-factor=2', '--heap-growing-percent=0'];

/** The last flag: little survives a step, so waking threads to collect it takes longer, and the steps need the cores. */
const flags = [...daemonFlags, '--no-opt', '--no-parallel-scavenge'];
const usualFlags = [...usualDaemonFlags, '--opt', '--parallel-scavenge'];

/** From this size of the heap, collecting the garbage of a daemon's start is worth its pause of about 50 ms. */
const COLLECTED_HEAP_BYTES = 48 * 1024 * 1024;

/**
 * Keeps the garbage of a daemon small. By default the young generation grows to 48 MB, and the old one to four times what
 * is used before it is collected: a daemon that uses 25 MB would take 100 MB. The result collects the garbage of the start.
 */
export async function keepDaemonSmall(): Promise<() => void> {
  if (!uses('small-process')) return () => {};
  await setFlags(daemonFlags, usualDaemonFlags);
  const collect = await collector();
  const { getHeapStatistics } = await import('node:v8');
  return () => {
    // Not by `process.memoryUsage`, which fails without /proc.
    if (getHeapStatistics().total_heap_size >= COLLECTED_HEAP_BYTES) collect();
  };
}

/**
 * Sets flags of V8 until the process ends: compiled code is kept for the next process, which starts with the default
 * flags.
 */
async function setFlags(own: readonly string[], usual: readonly string[]): Promise<void> {
  const { setFlagsFromString } = await import('node:v8');
  for (const flag of own) setFlagsFromString(flag);
  process.prependOnceListener('exit', () => {
    for (const flag of usual) setFlagsFromString(flag);
  });
}

/**
 * Makes this process small when it is about to start many others. Linux copies the page tables of a process for each
 * child, so a growing heap would slow every step: the young generation is kept small and code in its most compact form.
 * The result collects the garbage of reading the file and compacts the heap, whose pages would otherwise stay half
 * empty: 50 MB after a file of 10,000 steps, and a fifth of the time of each spawn.
 */
export async function keepProcessSmall(fileBytes: number): Promise<() => void> {
  if (fileBytes < WORTHWHILE_BYTES || !uses('small-process')) return () => {};
  // V8 accepts compiled code only for the flags that it was compiled with. Node's own code was compiled with the
  // default flags, and recompiling takes 3 ms; ours is kept when the process ends (`bin/code-cache.js`).
  await import('node:child_process');
  await setFlags(flags, usualFlags);
  if (fileBytes < COLLECTED_BYTES) return () => {};
  return collector();
}

/** Returns a function that collects all garbage and moves the rest together. */
async function collector(): Promise<() => void> {
  const { setFlagsFromString } = await import('node:v8');
  const { runInNewContext } = await import('node:vm');
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose-gc');
  return () => {
    // First without compaction: copies beside all that garbage would be the peak of the whole run.
    collect();
    setFlagsFromString('--compact-on-every-full-gc');
    collect();
    setFlagsFromString('--no-compact-on-every-full-gc');
  };
}
