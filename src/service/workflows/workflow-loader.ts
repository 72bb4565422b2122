import { performance } from 'node:perf_hooks';
import type { Worker } from 'node:worker_threads';
import { type LoadRequest, type LoadResult, loadWorkflow, TooManyBytes } from '#language/load.ts';
import { WfError } from '#system/errors.ts';
import { ownTurn } from '#system/turns.ts';
import { checkWorkflow } from './load-workflow.ts';
import type { TaskAnswer, TaskResults, ThreadTask } from './thread-tasks.ts';
import { readWorkflow, type WorkflowDirectories, type WorkflowReference } from './workflows.ts';

/** Reads the workflow of a reference as `readWorkflow` does, synchronously or by a promise. */
export type ReadWorkflow = (
  reference: WorkflowReference,
  directories: WorkflowDirectories,
) => LoadResult | Promise<LoadResult>;

/** The maximum size that is read synchronously: about 20 ms, and one turn of the event loop may read several. */
const MAX_BYTES_AT_ONCE = 32 * 1024;
/** The same for requests, of which many may come at once, the first to a program that has not read any text yet. */
const MAX_BYTES_OF_REQUEST = 16 * 1024;

/**
 * Creates a loader that reads small workflows synchronously, those of requests one in a turn of the event loop, and large
 * ones (with imports and base) in a thread.
 */
export function createWorkflowLoader({ run }: Pick<TaskThread, 'run'>) {
  const atOnce = <Kind extends 'load' | 'check' | 'read'>(
    work: (limit: { readonly mostBytes: number }) => TaskResults[Kind],
    task: ThreadTask & { readonly kind: Kind },
  ): TaskResults[Kind] | Promise<TaskResults[Kind]> => {
    try {
      return work({ mostBytes: task.kind === 'load' ? MAX_BYTES_AT_ONCE : MAX_BYTES_OF_REQUEST });
    } catch (error) {
      if (error instanceof TooManyBytes) return run(task);
      throw error;
    }
  };
  return {
    load: (request: LoadRequest) =>
      atOnce((limit) => loadWorkflow({ ...request, ...limit }), { kind: 'load', request }),
    check: async (request: LoadRequest) => {
      await ownTurn();
      return atOnce((limit) => checkWorkflow({ ...request, ...limit }), { kind: 'check', request });
    },
    read: async (reference: WorkflowReference, directories: WorkflowDirectories) => {
      await ownTurn();
      return atOnce((limit) => readWorkflow(reference, directories, limit), { kind: 'read', reference, directories });
    },
  };
}

/** A thread for work that texts of others can make long. */
export type TaskThread = ReturnType<typeof createTaskThread>;

/** The processor time after which a thread that answers nothing is ended; decision 15 says why. */
const MAX_LOAD_SECONDS = 5;
/** The same for other tasks. */
const MAX_TASK_SECONDS = 2;

/** A client searches one text after the other. */
const SEARCH_LULL_MS = 500;

type Waiting = {
  readonly task: ThreadTask;
  readonly resolve: (result: TaskResults[keyof TaskResults]) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Creates a thread that does one task after the other; searches wait for the other tasks, since there can be many of
 * them. It starts for the first task and ends after the last, since it retains the memory of a large text, or once it
 * has used the processor for the `secondsFor` a task without an answer. `start`: starts a thread that answers each `ThreadTask`
 * with a `TaskAnswer`.
 */
export function createTaskThread(start: () => Worker, secondsFor = longest) {
  const usual: Waiting[] = [];
  const searches: Waiting[] = [];
  let thread: Worker | null = null;
  let isBusy = false;
  let lull: NodeJS.Timeout | undefined;
  const close = () => {
    clearTimeout(lull);
    void thread?.terminate();
    thread = null;
  };
  const work = async () => {
    isBusy = true;
    clearTimeout(lull);
    let wasSearch = false;
    for (let next = usual.shift() ?? searches.shift(); next; next = usual.shift() ?? searches.shift()) {
      wasSearch = next.task.kind === 'search';
      try {
        if (thread === null) {
          thread = start();
          // It does not keep the process running.
          thread.unref();
        }
        next.resolve(resultOf(await ask(thread, next.task, secondsFor(next.task))));
      } catch (error) {
        // A failed thread sends no more answers, and one that takes too long lets the next task wait.
        if (!(error instanceof WfError) || error instanceof TooSlow) close();
        next.reject(error);
      }
    }
    isBusy = false;
    if (wasSearch) lull = setTimeout(close, SEARCH_LULL_MS).unref();
    else close();
  };
  return {
    /** Resolves to the result of a task. Rejects with its `WfError`, or with `usage` if it takes too long. */
    run: <Task extends ThreadTask>(task: Task) =>
      new Promise<TaskResults[Task['kind']]>((resolve, reject) => {
        // Each task is answered with the result of its kind.
        const answer = resolve as Waiting['resolve'];
        (task.kind === 'search' ? searches : usual).push({ task, resolve: answer, reject });
        if (!isBusy) void work();
      }),
    close,
  };
}

function longest({ kind }: ThreadTask): number {
  return kind === 'search' || kind === 'accept' ? MAX_TASK_SECONDS : MAX_LOAD_SECONDS;
}

function ask(thread: Worker, task: ThreadTask, mostSeconds: number): Promise<TaskAnswer> {
  return new Promise((resolve, reject) => {
    const isOver = spentMoreThan(mostSeconds);
    const watch = setInterval(() => {
      if (isOver()) settle(() => reject(new TooSlow(task.kind)));
    }, 250).unref();
    const settle = (take: () => void) => {
      clearInterval(watch);
      thread.off('message', onMessage).off('error', onError).off('exit', onExit);
      take();
    };
    const onMessage = (answer: TaskAnswer) => settle(() => resolve(answer));
    const onError = (error: Error) => settle(() => reject(error));
    const onExit = () => settle(() => reject(new Error('the thread that reads workflows has ended')));
    thread.on('message', onMessage).on('error', onError).on('exit', onExit);
    thread.postMessage(task);
  });
}

/** Whether the other threads used the processor for so long: on a busy machine a thread waits for it. */
function spentMoreThan(seconds: number): () => boolean {
  const before = process.cpuUsage();
  const loop = performance.eventLoopUtilization();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1e6 - performance.eventLoopUtilization(loop).active / 1e3 > seconds;
  };
}

class TooSlow extends WfError {
  constructor(kind: ThreadTask['kind']) {
    const { message, help } = tooSlow[kind];
    super('usage', message, { help });
  }
}

const slowRead = { message: 'the workflow takes too long to read', help: 'divide it into several files' };

const tooSlow: Record<ThreadTask['kind'], { readonly message: string; readonly help: string }> = {
  load: slowRead,
  check: slowRead,
  read: slowRead,
  accept: { message: 'the parameters take too long to check', help: 'give shorter values, or simplify their schema' },
  search: { message: 'the search takes too long', help: 'search for a simpler regular expression' },
};

function resultOf(answer: TaskAnswer): TaskResults[keyof TaskResults] {
  switch (answer.kind) {
    case 'result':
      return answer.result;
    case 'error': {
      const { code, message, help } = answer.error;
      throw new WfError(code, message, help === null ? {} : { help });
    }
    case 'bug':
      throw answer.error;
  }
}
