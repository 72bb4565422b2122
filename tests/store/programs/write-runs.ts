import { writeSync } from 'node:fs';
import { identify, isAlive } from '#processes/process-identity.ts';
import { createFileStore } from '#store/files/file-store.ts';
import { step, workflow } from '../../support/workflow.ts';

// Creates and writes runs until it is killed. Prints the run and number of each event once it is appended.
const [runsDir = ''] = process.argv.slice(2);
const store = createFileStore({ runsDir, identify, isAlive });
const steps = Array.from({ length: 20 }, (_, index) => step(`step ${index}`));

for (let number = 1; ; number++) {
  const runId = `${process.pid}-${number}`;
  const run = store.create({ runId, workflow: workflow({ steps }), sources: [] }, { logDir: null });
  writeSync(1, `${runId} 0\n`);
  for (let batch = 1; batch <= 10; batch++) {
    const events = Array.from({ length: batch }, () => ({
      type: 'step.ready' as const,
      at: batch,
      step: 'x'.repeat(batch * 50),
    }));
    const last = run.append(events).at(-1);
    writeSync(1, `${runId} ${last?.seq}\n`);
    if (batch === 3) void run.flush();
  }
  await run.close();
}
