import { execFileSync } from 'node:child_process';
import { closeSync, readdirSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { identify, isAlive } from '#processes/process-identity.ts';
import { createFileStore } from '#store/files/file-store.ts';
import { createMemoryStore } from '#store/memory.ts';
import { step, workflow } from '../../support/workflow.ts';

// Creates all files of stores under the given umask; prints their modes, and the umask of a child.
const [directory = '', umask = ''] = process.argv.slice(2);
process.umask(Number.parseInt(umask, 8));
const snapshot = { runId: 'r1', workflow: workflow({ steps: [step('a')] }), sources: [] };
const files = createFileStore({ runsDir: join(directory, 'state', 'runs'), identify, isAlive });
await files.create(snapshot, { logDir: null }).close();
const runs = [
  files.openForRecovery('r1'),
  files.create({ ...snapshot, runId: 'r2' }, { logDir: join(directory, 'logs') }),
  createMemoryStore({ tempDir: () => directory }).create(snapshot, { logDir: null }),
];
for (const run of runs) {
  const { stdoutFd, stderrFd } = run.logs.open('a', 1, { isSeparate: true, kept: [] }).log;
  closeSync(stdoutFd);
  closeSync(stderrFd);
  run.scratch();
}
const modes = readdirSync(directory, { recursive: true, encoding: 'utf8' }).map((path) => {
  const stat = statSync(join(directory, path));
  return `${stat.isDirectory() ? 'directory' : 'file'} ${(stat.mode & 0o777).toString(8)}`;
});
for (const run of runs) await run.close();
const childUmask = execFileSync('sh', ['-c', 'umask'], { encoding: 'utf8' }).trim();
writeSync(1, JSON.stringify({ modes: [...new Set(modes)].sort(), childUmask }));
