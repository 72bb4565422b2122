/** From this size of a file (some hundred steps) saving memory is worth its two milliseconds. */
const worthwhileBytes = 16 * 1024;
/** From this size (some thousand steps) the two collections are worth their time, that of twenty steps. */
const collectedBytes = 256 * 1024;

/** The last flag: little survives a step, so waking threads to collect it takes longer, and the steps need the cores. */
const flags = ['--semi-space-growth-factor=1', '--no-opt', '--no-parallel-scavenge'];
/** The defaults of V8. */
const usualFlags = ['--semi-space-growth-factor=2', '--opt', '--parallel-scavenge'];

/** From this size of the heap, collecting the garbage of a daemon's start is worth its pause of about 50 ms. */
const collectedHeapBytes = 48 * 1024 * 1024;

/**
 * Keeps the young generation of a daemon from growing to 48 MB, most of it garbage. The result collects what the start
 * has left behind.
 */
export async function keepDaemonSmall(): Promise<() => void> {
  await setFlags(['--semi-space-growth-factor=1'], ['--semi-space-growth-factor=2']);
  const collect = await collector();
  return () => {
    if (process.memoryUsage().heapTotal >= collectedHeapBytes) collect();
  };
}

/** Sets flags of V8 until the process ends: compiled code is kept for a process that begins with the usual ones. */
async function setFlags(own: readonly string[], usual: readonly string[]): Promise<void> {
  const { setFlagsFromString } = await import('node:v8');
  for (const flag of own) setFlagsFromString(flag);
  process.prependOnceListener('exit', () => {
    for (const flag of usual) setFlagsFromString(flag);
  });
}

/**
 * Makes this process small when it is about to start many others. Linux copies the page tables of a process for each
 * child, so that a heap that is free to grow would cost every step some time: the young generation is kept from growing
 * and code in the form that takes the least room. The result collects what reading the file has left behind and moves the
 * rest together, without which the pages that it lay on would stay half empty: 50 MB after a file of 10,000 steps, and a
 * fifth of the time of each spawn.
 */
export async function keepProcessSmall(fileBytes: number): Promise<() => void> {
  if (fileBytes < worthwhileBytes) return () => {};
  // V8 takes compiled code for the flags that it was compiled with. Node's own is for the usual ones, and this takes 3 ms; ours
  // is kept when the process ends (`bin/code-cache.js`).
  await import('node:child_process');
  await setFlags(flags, usualFlags);
  if (fileBytes < collectedBytes) return () => {};
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
    // First without moving anything: copies beside all that garbage would be the peak of the whole run.
    collect();
    setFlagsFromString('--compact-on-every-full-gc');
    collect();
    setFlagsFromString('--no-compact-on-every-full-gc');
  };
}
