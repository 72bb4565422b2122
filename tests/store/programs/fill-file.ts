import { writeSync } from 'node:fs';
import { identify, isAlive } from '#processes/process-identity.ts';
import { createFileStore } from '#store/files/file-store.ts';
import { WfError } from '#system/errors.ts';
import { workflow } from '../../support/workflow.ts';

// Appends until the system fails, and prints the error, the number of written events, and the number read back.
const [runsDir = ''] = process.argv.slice(2);
const store = createFileStore({ runsDir, identify, isAlive });
const run = store.create({ runId: 'r1', workflow: workflow(), sources: [] }, { logDir: null });
let taken = 0;
let refused: unknown = null;
while (refused === null) {
  try {
    taken = run.append([{ type: 'step.ready', at: 1, step: 'x'.repeat(777) }]).at(-1)?.seq ?? taken;
  } catch (error) {
    refused = error;
  }
}
const read = store.read('r1');
const { code, message } = refused instanceof WfError ? refused : { code: 'bug', message: String(refused) };
writeSync(1, JSON.stringify({ code, message, taken, read: read?.events.length, damage: read?.damage }));
await run.close();
