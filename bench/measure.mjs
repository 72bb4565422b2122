import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Times two programs against each other: alternately, `runs` times each after a warm-up. Resolves to the median ratio
 * of neighbours, which share the state of the machine, and the median times in ms. The time is from start to end, or
 * the result of a program's `ownTime`, in ms, read after its end. `cleanUp` is called after each program, outside its
 * time. With `isLeast` it resolves to the least times and their ratio, for differences smaller than the noise of the
 * machine, which can only add to a time.
 */
export async function compare(ours, base, { runs, cleanUp, isLeast = false }) {
  const pairs = [];
  for (let run = 0; run <= runs; run += 1) {
    const order = run % 2 === 0 ? [ours, base] : [base, ours];
    const ms = new Map();
    for (const program of order) {
      const whole = await time(program);
      ms.set(program, program.ownTime?.(program.env) ?? whole);
      cleanUp();
    }
    if (run > 0) pairs.push({ ours: ms.get(ours), base: ms.get(base) });
  }
  if (isLeast) {
    const [oursMs, baseMs] = ['ours', 'base'].map((name) => Math.min(...pairs.map((pair) => pair[name])));
    return { ratio: oursMs / baseMs, oursMs, baseMs };
  }
  return {
    ratio: median(pairs.map((pair) => pair.ours / pair.base)),
    oursMs: median(pairs.map((pair) => pair.ours)),
    baseMs: median(pairs.map((pair) => pair.base)),
  };
}

/** Peak resident memory of a Node program, without its children, in MB. */
export async function peakMemory({ command, env }, folder) {
  const [node, ...args] = command;
  const file = join(folder, 'peak-memory');
  const preload = ['--require', join(import.meta.dirname, 'peak-memory.cjs')];
  await time({ command: [node, ...preload, ...args], env: { ...env, WF_BENCH_MEMORY: file } });
  return (Number(readFileSync(file, 'utf8')) * 1024) / 1e6;
}

/**
 * Resolves to the time from start to end in ms; rejects if the program fails. Output goes to /dev/null: reading it here
 * would use the cores being measured.
 */
function time({ command: [program, ...args], env }) {
  return new Promise((resolve, reject) => {
    const started = process.hrtime.bigint();
    const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'] });
    let problems = '';
    child.stderr.on('data', (text) => {
      problems += text;
    });
    child.once('error', reject);
    let ms;
    child.once('exit', () => {
      ms = Number(process.hrtime.bigint() - started) / 1e6;
    });
    child.once('close', (code) => {
      if (code === 0) resolve(ms);
      else reject(new Error(`${[program, ...args].join(' ')} ended with ${code}: ${problems}`));
    });
  });
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
