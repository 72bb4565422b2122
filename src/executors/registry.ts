import { executor as command } from './command/command.ts';
import type { Attempt, Executor } from './executor.ts';

/**
 * All values of `executor.type`. Executors are loaded with their packages for the first step, except that of nearly every
 * workflow.
 */
export const registry: { readonly [type: string]: () => Executor | Promise<Executor> } = {
  command: () => command,
  workflow: async () => (await import('./workflow/workflow.ts')).executor,
  docker: async () => (await import('./docker/docker.ts')).executor,
  http: async () => (await import('./http/http.ts')).executor,
  webhook: async () => (await import('./http/http.ts')).webhook,
  terraform: async () => (await import('./terraform/terraform.ts')).executor,
  ansible: async () => (await import('./ansible/ansible.ts')).executor,
  jq: async () => (await import('./jq/jq.ts')).executor,
  mail: async () => (await import('./mail/mail.ts')).executor,
  ssh: async () => (await import('./ssh/ssh.ts')).executor,
};

/** The executor for a type in a checked workflow; a promise only if its module is not loaded yet. */
export function loadExecutor(type: string): Executor | Promise<Executor> {
  const load = Object.hasOwn(registry, type) ? registry[type] : undefined;
  if (load === undefined) throw new Error(`no executor has the type "${type}"`);
  return load();
}

type FindExecutor = (type: string) => Executor | Promise<Executor>;

/** Wraps executors so that `report` is called before each attempt, with its directory and environment, secrets included. */
export function reportAttempts(find: FindExecutor, report: (attempt: Attempt) => void): FindExecutor {
  const reporting = ({ run }: Executor): Executor => ({
    run: (config, attempt) => {
      report(attempt);
      return run(config, attempt);
    },
  });
  return (type) => {
    const executor = find(type);
    return executor instanceof Promise ? executor.then(reporting) : reporting(executor);
  };
}
