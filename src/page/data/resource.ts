import { type ReadonlySignal, type Signal, signal, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { ApiProblem } from '../api/client.ts';

/** The state of a resource of the daemon: a value, a problem, or neither before the first response. */
export type Known<T> = { readonly value: T | null; readonly problem: ApiProblem | null };

/** A resource of the daemon that is read repeatedly. */
export type Resource<T> = {
  readonly known: ReadonlySignal<Known<T>>;
  /** Reads it again. A call during another one waits for it; further calls share the waiting one. */
  readonly refresh: () => Promise<void>;
  /** Does work after which the resource no longer exists: from now on it is not read, unless the work fails. */
  readonly removeBy: (work: () => Promise<void>) => Promise<void>;
};

/** A resource that `load` reads. Its value stays visible while the daemon does not respond or a login is missing. */
export function createResource<T>(load: () => Promise<T>, first: T | null = null): Resource<T> {
  const known = signal<Known<T>>({ value: first, problem: null });
  let isRemoved = false;
  const refresh = coalesced(async () => {
    if (isRemoved) return;
    try {
      known.value = { value: await load(), problem: null };
    } catch (error) {
      const problem = ApiProblem.of(error);
      const mayReturn = problem.status === 0 || problem.status === 401;
      known.value = { value: mayReturn ? known.value.value : null, problem };
    }
  });
  const removeBy = async (work: () => Promise<void>) => {
    isRemoved = true;
    await refresh();
    try {
      await work();
    } catch (error) {
      isRemoved = false;
      void refresh();
      throw error;
    }
  };
  return { known, refresh, removeBy };
}

/** Calls of the result during another one wait for it, and share one further call of `action`, which never rejects. */
export function coalesced(action: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const call = async (): Promise<void> => {
    if (running !== null) {
      next ??= running.then(() => {
        next = null;
        return call();
      });
      return next;
    }
    running = action();
    await running;
    running = null;
  };
  return call;
}

/** Reads a resource once, and again if one of the keys changes. */
export function useResource<T>(
  load: () => Promise<T>,
  keys: readonly unknown[],
): Known<T> & { readonly refresh: () => Promise<void> } {
  const { known, refresh } = useMemo(() => createResource(load), keys);
  useEffect(() => void refresh(), [refresh]);
  return { ...known.value, refresh };
}

/** Calls `read` at an interval while the page is visible. */
export function useInterval(read: () => Promise<void>, ms: number): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) void read();
    }, ms);
    return () => clearInterval(timer);
  }, [read]);
}

/** The request of a control. */
export type ControlRequest = {
  /** Also after a success, since most controls are then gone. */
  readonly isPending: Signal<boolean>;
  readonly problem: Signal<ApiProblem | null>;
  /** Does `work` unless other work is pending; returns whether it succeeded. */
  readonly send: (work: () => Promise<unknown>) => Promise<boolean>;
};

/** Creates the request of a control. */
export function useRequest(): ControlRequest {
  const isPending = useSignal(false);
  const problem = useSignal<ApiProblem | null>(null);
  const send = async (work: () => Promise<unknown>): Promise<boolean> => {
    if (isPending.value) return false;
    isPending.value = true;
    problem.value = null;
    try {
      await work();
      return true;
    } catch (error) {
      problem.value = ApiProblem.of(error);
      isPending.value = false;
      return false;
    }
  };
  return { isPending, problem, send };
}

/** What screens showed when they were left. A screen that opens again shows it at once, at the same scroll position. */
type Kept<T> = {
  readonly get: (key: string) => T | null;
  /** Null: nothing to show again. */
  readonly set: (key: string, value: T | null) => void;
};

const MAX_KEPT = 10;

/** Creates a memory of the last values. */
export function createKept<T>(): Kept<T> {
  const values = new Map<string, T>();
  return {
    get: (key) => values.get(key) ?? null,
    set: (key, value) => {
      values.delete(key);
      if (value === null) return;
      values.set(key, value);
      for (const [oldest] of values) if (values.size > MAX_KEPT) values.delete(oldest);
    },
  };
}
