import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

const launcher = join(import.meta.dirname, '../bin/wf.js');

/**
 * Works for about two seconds and prints 10,000 lines meanwhile, each as soon as it is there. At its start and its end it
 * notes the time, and the time for which all threads of the `wf` that runs it have had a core, in ns.
 */
const script = `
wf=$PPID
until grep -q bin/wf.js /proc/$wf/cmdline; do wf=$(cut -d ' ' -f 4 /proc/$wf/stat); done
note() { echo "$(date +%s%N) $(cat /proc/$wf/task/*/schedstat | awk '{ sum += $1 } END { printf "%d", sum }')"; }
note > "$WF_BENCH_NOTES"
awk 'BEGIN { for (i = 0; i < 10000; i++) { for (j = 0; j < 8000; j++) x += j; print "line", i, x; fflush() } }'
note >> "$WF_BENCH_NOTES"
`;

/** What becomes of a request at a sink that has trouble; null: nobody listens. */
const sinks = {
  hanging: () => {},
  slow: (socket) => socket.on('data', () => setTimeout(() => socket.write(taken), 200)),
  dead: null,
};

const taken = 'HTTP/1.1 204 No Content\r\n\r\n';

/**
 * The same run with its logs forwarded to a sink that has trouble, and without. What counts is the time of its step; or,
 * for `share`, what a second of the step would take on one core with what `wf` does meanwhile, which is the most by which
 * it can slow a step, and does not depend on what else the machine is doing.
 */
export async function forwardedTo(kind, folder, what) {
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
  return { ours: { ...base, env }, base, close };
}

/** How long the step took, and the share of that time for which `wf` had a core. */
function readNotes(file) {
  const [[start, busyBefore], [end, busyAfter]] = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(' ').map(Number));
  return { ms: (end - start) / 1e6, share: (busyAfter - busyBefore) / (end - start) };
}

/** A sink on a port of its own, until it is closed; without one the port of a server that is gone. */
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
