import { expect, it } from 'vitest';
import { type ListedRun, listRuns, NamespaceRuns } from '#engine/temporal/client/namespace-runs.ts';
import { WfError } from '#system/errors.ts';

const HOUR_MS = 3_600_000;

function run(runId: string, startedAt: number): ListedRun {
  return { runId, startedAt, isOpen: false };
}

/** A namespace, and what a daemon on it did. `refuses`: runs that cannot be copied, with the error. */
function world(mark: number | null = null) {
  const runs: ListedRun[] = [];
  const refuses = new Map<string, WfError>();
  const did = { copied: [] as string[], listed: [] as (number | null)[], reported: [] as unknown[] };
  const stored = { mark };
  const open = () =>
    new NamespaceRuns({
      list: async (since) => {
        did.listed.push(since);
        return runs.filter(({ startedAt }) => startedAt >= (since ?? 0));
      },
      copy: async ({ runId }) => {
        const error = refuses.get(runId);
        if (error !== undefined) throw error;
        did.copied.push(runId);
      },
      mark: {
        read: () => stored.mark,
        write: (startedAt) => {
          stored.mark = startedAt;
        },
      },
      report: (error) => did.reported.push(error),
    });
  return { runs, refuses, did, stored, open };
}

const forever = new AbortController().signal;

it('each run is copied once, the oldest first', async () => {
  const { runs, did, open } = world();
  const found = open();
  runs.push(run('a', HOUR_MS), run('b', 2 * HOUR_MS));
  await found.look(forever);
  runs.push(run('c', 2 * HOUR_MS + 1));
  await found.look(forever);
  expect(did.copied).toEqual(['a', 'b', 'c']);
});

it('the next daemon asks only for what was started since, and does not copy removed runs again', async () => {
  const { runs, did, stored, open } = world();
  runs.push(run('old', HOUR_MS), run('new', 2 * HOUR_MS));
  await open().look(forever);
  const mark = 2 * HOUR_MS - 120_000;
  expect(stored.mark).toBe(mark);
  await open().look(forever);
  expect(did).toMatchObject({ listed: [null, mark], copied: ['old', 'new', 'new'] });
});

it('a run that is listed late is found', async () => {
  const { runs, did, open } = world();
  const found = open();
  runs.push(run('a', HOUR_MS));
  await found.look(forever);
  runs.push(run('late', HOUR_MS - 100_000));
  await found.look(forever);
  expect(did.copied).toEqual(['a', 'late']);
});

it('runs that cannot be read are reported together, once, and left for a daemon that can', async () => {
  const { runs, refuses, did, stored, open } = world();
  const problem = new WfError('usage', 'the data of this run is encrypted');
  for (const name of ['a', 'b']) refuses.set(name, problem);
  runs.push(run('a', HOUR_MS), run('b', HOUR_MS + 1), run('c', 3 * HOUR_MS));
  const found = open();
  await found.look(forever);
  await found.look(forever);
  expect(did.copied).toEqual(['c']);
  expect(did.reported.map(String)).toEqual([
    'WfError: 2 runs of the engine are not copied: the data of this run is encrypted',
  ]);
  expect(stored.mark).toBe(HOUR_MS);
  refuses.clear();
  await open().look(forever);
  expect(did.copied).toEqual(['c', 'a', 'b', 'c']);
});

it.each(['unreachable', 'storage'] as const)('after the error "%s" the next look continues', async (code) => {
  const { runs, refuses, did, stored, open } = world();
  runs.push(run('a', HOUR_MS), run('b', 2 * HOUR_MS));
  refuses.set('a', new WfError(code, 'away'));
  const found = open();
  await expect(found.look(forever)).rejects.toThrow('away');
  expect({ ...did, mark: stored.mark }).toMatchObject({ copied: [], reported: [], mark: null });
  refuses.clear();
  await found.look(forever);
  expect(did.copied).toEqual(['a', 'b']);
});

it('a look ends with its signal, and its mark does not pass what is left', async () => {
  const { runs, did, stored, open } = world();
  runs.push(run('a', HOUR_MS));
  await open().look(AbortSignal.abort());
  expect({ copied: did.copied, mark: stored.mark }).toEqual({ copied: [], mark: null });
});

it('an execution that continued is one run, which began when its last part did', async () => {
  const pages = [
    { executions: [execution('b', 30, 1), execution('a', 20, 1)], nextPageToken: new Uint8Array([1]) },
    { executions: [execution('a', 10, 6)], nextPageToken: new Uint8Array() },
  ];
  const asked: object[] = [];
  const listWorkflowExecutions = async (request: object) => {
    asked.push(request);
    return pages[asked.length - 1];
  };
  const connection = {
    workflowService: { listWorkflowExecutions },
    withDeadline: <T>(_: number, call: () => Promise<T>) => call(),
  };
  const listed = await listRuns({ connection, namespace: 'ops' } as unknown as Parameters<typeof listRuns>[0], 5000);
  expect(listed).toEqual([
    { runId: 'a', startedAt: 20_000, isOpen: true },
    { runId: 'b', startedAt: 30_000, isOpen: true },
  ]);
  expect(asked).toMatchObject([
    { namespace: 'ops', query: 'WorkflowType = "wf.run.1" AND StartTime >= "1970-01-01T00:00:05.000Z"' },
    { nextPageToken: new Uint8Array([1]) },
  ]);
});

function execution(workflowId: string, seconds: number, status: number) {
  return { execution: { workflowId }, startTime: { seconds, nanos: 0 }, status };
}
