import { performance } from 'node:perf_hooks';
import type { Worker } from 'node:worker_threads';
import { WfError } from '../../errors.ts';
import { type LoadResult, loadWorkflow } from '../../language/load.ts';
import { TooManyBytes } from '../../language/read/byte-limit.ts';
import type { LoadAnswer, LoadOrder, LoadResults } from './load-thread.ts';
import { type CheckWorkflow, checkWorkflow, type LoadWorkflow } from './load-workflow.ts';
import { readWorkflow, type WorkflowPlaces, type WorkflowReference } from './workflows.ts';

/** Reads the workflow of a reference as `readWorkflow` does, synchronously or by a promise. */
export type ReadWorkflow = (reference: WorkflowReference, places: WorkflowPlaces) => LoadResult | Promise<LoadResult>;

/** Reads workflows without blocking the event loop for long. */
export type WorkflowLoader = {
  readonly load: LoadWorkflow;
  readonly check: CheckWorkflow;
  readonly read: ReadWorkflow;
  readonly close: () => void;
};

/** The processor time after which a thread that answers nothing is ended; the largest file takes less than half of it. */
const MAX_THREAD_SECONDS = 5;

/** The maximum size that is read synchronously: about 20 ms, and one turn of the event loop may read several. */
const MAX_BYTES_AT_ONCE = 32 * 1024;

/**
 * Creates a loader that reads small workflows synchronously, and large ones (with imports and base) in a thread, one
 * after the other. The thread starts for the first large workflow and ends after the last, since it retains the memory
 * of a large text, or once it has used the processor for `mostSeconds` without an answer. `start`: starts a thread that
 * answers each `LoadOrder` with a `LoadAnswer`.
 */
export function createWorkflowLoader(start: () => Worker, mostSeconds = MAX_THREAD_SECONDS): WorkflowLoader {
  let thread: Worker | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  const close = () => {
    void thread?.terminate();
    thread = null;
  };
  const inThread = async (order: LoadOrder): Promise<LoadResults[keyof LoadResults]> => {
    try {
      thread ??= startUnreferenced(start);
      return resultOf(await ask(thread, order, mostSeconds));
    } catch (error) {
      // A failed thread sends no more answers, and one that takes too long lets the next text wait.
      if (!(error instanceof WfError) || error instanceof TooSlow) close();
      throw error;
    } finally {
      waiting -= 1;
      if (waiting === 0) close();
    }
  };
  const later = (order: LoadOrder) => {
    waiting += 1;
    const result = last.then(() => inThread(order));
    last = result.catch(() => {});
    return result;
  };
  const atOnce = <Kind extends LoadOrder['kind']>(
    work: (limit: { readonly mostBytes: number }) => LoadResults[Kind],
    order: LoadOrder & { readonly kind: Kind },
  ) => {
    try {
      return work({ mostBytes: MAX_BYTES_AT_ONCE });
    } catch (error) {
      if (error instanceof TooManyBytes) return later(order) as Promise<LoadResults[Kind]>;
      throw error;
    }
  };
  return {
    load: (request) => atOnce((limit) => loadWorkflow({ ...request, ...limit }), { kind: 'load', request }),
    check: (request) => atOnce((limit) => checkWorkflow({ ...request, ...limit }), { kind: 'check', request }),
    read: (reference, places) =>
      atOnce((limit) => readWorkflow(reference, places, limit), { kind: 'read', reference, places }),
    close,
  };
}

/** Starts a thread that does not keep the process running. */
function startUnreferenced(start: () => Worker): Worker {
  const thread = start();
  thread.unref();
  return thread;
}

function ask(thread: Worker, order: LoadOrder, mostSeconds: number): Promise<LoadAnswer> {
  return new Promise((resolve, reject) => {
    const isOver = spentMoreThan(mostSeconds);
    const watch = setInterval(() => {
      if (isOver()) settle(() => reject(new TooSlow()));
    }, 250).unref();
    const settle = (take: () => void) => {
      clearInterval(watch);
      thread.off('message', onMessage).off('error', onError).off('exit', onExit);
      take();
    };
    const onMessage = (answer: LoadAnswer) => settle(() => resolve(answer));
    const onError = (error: Error) => settle(() => reject(error));
    const onExit = () => settle(() => reject(new Error('the thread that reads workflows has ended')));
    thread.on('message', onMessage).on('error', onError).on('exit', onExit);
    thread.postMessage(order);
  });
}

/**
 * Returns whether the threads besides this one have used the processor for so long. Time is not measured by the clock, since
 * on a busy machine a thread waits for the processor.
 */
function spentMoreThan(seconds: number): () => boolean {
  const before = process.cpuUsage();
  const loop = performance.eventLoopUtilization();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1e6 - performance.eventLoopUtilization(loop).active / 1e3 > seconds;
  };
}

class TooSlow extends WfError {
  constructor() {
    super('usage', 'the workflow takes too long to read', { help: 'divide it into several files' });
  }
}

function resultOf(answer: LoadAnswer): LoadResults[keyof LoadResults] {
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
