import { type ReadonlySignal, signal } from '@preact/signals';
import { ApiProblem } from '../api/problem.ts';

/** What is known of something of the daemon: a value, a problem, or nothing yet. */
export type Known<T> = { readonly value: T | null; readonly problem: ApiProblem | null };

/** Something of the daemon that is read again and again. */
export type Resource<T> = {
  readonly known: ReadonlySignal<Known<T>>;
  /** Reads it again; a second call during the first waits for its turn, and further ones join it. */
  readonly refresh: () => Promise<void>;
};

/** A resource that `load` reads. A value stays shown while the daemon does not answer or a login is missing. */
export function createResource<T>(load: () => Promise<T>): Resource<T> {
  const known = signal<Known<T>>({ value: null, problem: null });
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const read = async () => {
    try {
      known.value = { value: await load(), problem: null };
    } catch (error) {
      const problem = ApiProblem.of(error);
      const mayReturn = problem.status === 0 || problem.status === 401;
      known.value = { value: mayReturn ? known.value.value : null, problem };
    }
  };
  const refresh = (): Promise<void> => {
    if (running === null) {
      running = read().finally(() => {
        running = null;
      });
      return running;
    }
    next ??= running.then(() => {
      next = null;
      return refresh();
    });
    return next;
  };
  return { known, refresh };
}
