import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

const launcher = join(import.meta.dirname, '../bin/wf.js');

/**
 * Works for about two seconds and prints 10,000 lines as it goes. At the start and the end it records the time, and the
 * CPU time of all threads of the `wf` that runs it, in ns.
 */
const script = `
wf=$PPID
until grep -q bin/wf.js /proc/$wf/cmdline; do wf=$(cut -d ' ' -f 4 /proc/$wf/stat); done
note() { echo "$(date +%s%N) $(cat /proc/$wf/task/*/schedstat | awk '{ sum += $1 } END { printf "%d", sum }')"; }
note > "$WF_BENCH_NOTES"
awk 'BEGIN { for (i = 0; i < 10000; i++) { for (j = 0; j < 8000; j++) x += j; print "line", i, x; fflush() } }'
note >> "$WF_BENCH_NOTES"
`;

/** Responses of a failing sink; null: nothing listens. */
const sinks = {
  hanging: () => {},
  slow: (socket) => socket.on('data', () => setTimeout(() => socket.write(taken), 200)),
  dead: null,
};

const taken = 'HTTP/1.1 204 No Content\r\n\r\n';

/**
 * The same run with its logs forwarded to a failing sink, and without. Compares the time of the step; or, for `share`,
 * the time that a second of the step would take on one core shared with `wf`: the most by which `wf` can slow a step,
 * whatever else the machine is doing. `target`: the largest ratio.
 */
export async function forwardedTo(kind, folder, what, target) {
  const [file, notes] = [join(folder, 'workflow.yaml'), join(folder, 'notes')];
  writeFileSync(file, `steps:\n  - name: work\n    script: |${script.replaceAll('\n', '\n      ')}`);
  const { port, close } = await open(sinks[kind]);
  const ownTime = () => (what === 'share' ? 1000 * (1 + readNotes(notes).share) : readNotes(notes).ms);
  const command = [process.execPath, launcher, 'run', '--reporter', 'quiet', file];
  const base = { command, ownTime, env: { WF_BENCH_NOTES: notes } };
  const env = {
    ...base.env,
    WF_LOG_FORWARDING_ENABLED: 'true',
    WF_LOG_FORWARDING_INCLUDE_STEP_OUTPUT: 'true',
    WF_LOG_FORWARDING_MONITOR_ENABLED: 'false',
    WF_LOG_FORWARDING_HTTP_URL: `http://127.0.0.1:${port}`,
  };
  return { ours: { ...base, env }, peers: [{ ...base, peer: 'not forwarded', target }], close };
}

/** The duration of the step, and the share of it for which `wf` had a core. */
function readNotes(file) {
  const [[start, busyBefore], [end, busyAfter]] = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(' ').map(Number));
  return { ms: (end - start) / 1e6, share: (busyAfter - busyBefore) / (end - start) };
}

/** A sink on a free port until it is closed; without one, the port of a closed server. */
async function open(answer) {
  const sockets = new Set();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    socket.resume();
    answer?.(socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address();
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    if (server.listening) await once(server.close(), 'close');
  };
  if (answer === null) await close();
  return { port, close };
}
