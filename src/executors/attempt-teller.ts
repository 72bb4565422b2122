import type { Attempt, Executor } from './executor.ts';

type FindExecutor = (type: string) => Executor | Promise<Executor>;

/**
 * Wraps executors so that `tell` is called before each attempt, with its directory and environment, secrets included.
 */
export function tellAttempts(find: FindExecutor, tell: (attempt: Attempt) => void): FindExecutor {
  const telling = ({ run }: Executor): Executor => ({
    run: (config, attempt) => {
      tell(attempt);
      return run(config, attempt);
    },
  });
  return (type) => {
    const executor = find(type);
    return executor instanceof Promise ? executor.then(telling) : telling(executor);
  };
}
