import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Times programs in turn, in an order that alternates, `runs` times each after a warm-up. Resolves to the median time of
 * the first in ms, and to those of the others, its peers, with the median ratio of neighbours, which share the state of
 * the machine. The time is from start to end, or the result of a program's `ownTime`, in ms, read after its end.
 * `cleanUp` is called after each program, outside its time. With `isLeast` it resolves to the least times and their
 * ratio, for differences smaller than the noise of the machine, which can only add to a time.
 */
export async function compare(programs, { runs, cleanUp, isLeast = false }) {
  const times = programs.map(() => []);
  for (let run = 0; run <= runs; run += 1) {
    const order = run % 2 === 0 ? programs : programs.toReversed();
    for (const program of order) {
      const whole = await time(program);
      const ms = program.ownTime?.(program.env) ?? whole;
      if (run > 0) times[programs.indexOf(program)].push(ms);
      cleanUp();
    }
  }
  const [ours, ...others] = times;
  const typical = isLeast ? (values) => Math.min(...values) : median;
  const peers = others.map((values, at) => {
    const { peer, target } = programs[at + 1];
    const ms = typical(values);
    return { peer, target, ms, ratio: isLeast ? typical(ours) / ms : median(ours.map((own, i) => own / values[i])) };
  });
  return { oursMs: typical(ours), peers };
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
