import { writeSync } from 'node:fs';
import { identify, isAlive } from '#processes/process-identity.ts';
import { createFileStore } from '#store/files/file-store.ts';

// Prints `ready`, waits for input, removes every run and prints the ids that it has removed.
const [runsDir = ''] = process.argv.slice(2);
const store = createFileStore({ runsDir, identify, isAlive });
const ids = store.list();

process.stdin.once('data', async () => {
  const removed: string[] = [];
  for (const runId of ids) if ((await store.remove(runId, () => true)) !== null) removed.push(runId);
  writeSync(1, `${removed.join(' ')}\n`);
});
process.stdin.on('end', () => process.exit());
writeSync(1, 'ready\n');
