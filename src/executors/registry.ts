import { executor as command } from './command/command.ts';
import type { Attempt, Executor } from './executor.ts';

/** Loads an executor: synchronously if nearly every workflow needs it, else with its packages for the first step. */
type Entry = { readonly load: () => Executor | Promise<Executor> };

/** All values of `executor.type`. */
export const registry: { readonly [type: string]: Entry } = {
  command: { load: () => command },
  workflow: { load: async () => (await import('./workflow/workflow.ts')).executor },
  docker: { load: async () => (await import('./docker/docker.ts')).executor },
  http: { load: async () => (await import('./http/http.ts')).executor },
  webhook: { load: async () => (await import('./http/webhook.ts')).executor },
  terraform: { load: async () => (await import('./terraform/terraform.ts')).executor },
  ansible: { load: async () => (await import('./ansible/ansible.ts')).executor },
  jq: { load: async () => (await import('./jq/jq.ts')).executor },
  mail: { load: async () => (await import('./mail/mail.ts')).executor },
  ssh: { load: async () => (await import('./ssh/ssh.ts')).executor },
};

/** The executor for a type in a checked workflow; a promise only if its module is not loaded yet. */
export function loadExecutor(type: string): Executor | Promise<Executor> {
  const entry = Object.hasOwn(registry, type) ? registry[type] : undefined;
  if (entry === undefined) throw new Error(`no executor has the type "${type}"`);
  return entry.load();
}

type FindExecutor = (type: string) => Executor | Promise<Executor>;

/**
 * Wraps executors so that `tell` is called before each attempt, with its directory and environment, secrets included.
 */
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
