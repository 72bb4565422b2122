import { identify, isAlive } from '#processes/process-identity.ts';
import { createFileStore } from '#store/files/file-store.ts';
import { workflow } from '../../support/workflow.ts';

/*
 * index-runs <runsDir> <number> <count>: creates runs and regularly looks up all existing ones.
 */
const [runsDir = '', number = '', count = ''] = process.argv.slice(2);
const store = createFileStore({ runsDir, identify, isAlive });
for (let index = 0; index < Number(count); index++) {
  const name = `w${index % 5}`;
  const runId = `${number}-${index}`;
  const run = store.create({ runId, workflow: workflow({ name }), sources: [] }, { logDir: null });
  run.append([
    {
      type: 'run.created',
      at: 1,
      runId,
      workflow: name,
      group: '',
      file: null,
      trigger: 'cli',
      retryOf: null,
      params: [],
    },
  ]);
  await run.close();
  if (index % 7 === 0) store.labels(store.list());
}
