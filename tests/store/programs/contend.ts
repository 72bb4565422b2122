import { writeSync } from 'node:fs';
import { identify, isAlive } from '#processes/process-identity.ts';
import { createFileStore } from '#store/files/file-store.ts';
import { WfError } from '#system/errors.ts';
import { workflow } from '../../support/workflow.ts';

// Prints `ready`, waits for input, creates or takes over a run, prints the result and runs until its input ends.
const [action = '', runsDir = '', runId = ''] = process.argv.slice(2);
const store = createFileStore({ runsDir, identify, isAlive });
const snapshot = { runId, workflow: workflow({ name: String(process.pid) }), sources: [] };

process.stdin.once('data', () => {
  try {
    const run = action === 'create' ? store.create(snapshot, { logDir: null }) : store.openForRecovery(runId);
    run.append([{ type: 'run.started', at: process.pid }]);
    writeSync(1, `won ${process.pid}\n`);
  } catch (error) {
    writeSync(1, `${error instanceof WfError ? error.code : error}\n`);
  }
});
process.stdin.on('end', () => process.exit());
writeSync(1, 'ready\n');
