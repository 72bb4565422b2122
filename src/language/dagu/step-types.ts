/** The executor of each step type of Dagu 2; null for the types that run another workflow. */
const executors: { readonly [type: string]: string | null } = {
  command: 'command',
  shell: 'command',
  docker: 'docker',
  container: 'docker',
  dag: null,
  subworkflow: null,
  parallel: null,
  http: 'http',
  mail: 'mail',
  ssh: 'ssh',
  jq: 'jq',
};

/** The executor of a step type of Dagu 2; null if it runs another workflow, undefined if the type is not supported. */
export function executorOfType(type: string): string | null | undefined {
  return Object.hasOwn(executors, type) ? executors[type] : undefined;
}
