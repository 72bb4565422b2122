import type { RunSummary } from '../../core/summary.ts';
import { WfError } from '../../errors.ts';
import type { AcceptedRun } from '../../service/runs/run-desk.ts';
import { type Answer, ref } from '../openapi/operation.ts';
import type { Reply } from '../route.ts';
import { exampleRun } from './examples.ts';
import type { V2Parts } from './parts.ts';

/**
 * The answer to who has asked for a run: 201 with its place, or 200 where it was there already and `isSame`. Throws a `WfError`
 * `run-exists` where the id is that of another run.
 */
export async function acceptedReply(
  { runId, isNew }: AcceptedRun,
  isSame: (run: RunSummary) => boolean,
  { history, board, basePath }: Pick<V2Parts, 'history' | 'board' | 'basePath'>,
): Promise<Reply> {
  board.touch();
  const run = await history.read(runId);
  if (run === null) throw new WfError('not-found', `the run "${runId}" is gone already`);
  const summary = history.summarize(run);
  if (!isNew && !isSame(summary)) {
    throw new WfError('run-exists', `there is another run "${runId}"`, { help: 'choose another id' });
  }
  const location = { Location: `${basePath}/api/v2/runs/${encodeURIComponent(runId)}` };
  return { status: isNew ? 201 : 200, headers: location, body: `${JSON.stringify(summary)}\n` };
}

const headers = { Location: 'Where the run is.' };
const content = { 'application/json': { schema: ref('RunSummary'), example: exampleRun } };

/** How `acceptedReply` answers. */
export const acceptedAnswers: Readonly<Record<string, Answer>> = {
  200: { description: 'There is a run of that id already, which was asked for in the same way.', headers, content },
  201: { description: 'The run is accepted and on the disk.', headers, content },
};
