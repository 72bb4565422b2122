const OTHER_WORKFLOW = 'To run another workflow, write run: NAME and no executor.';

/** What to write instead of executors and step types that `wf` does not have, by their names in lower case. */
const advice = new Map([
  ...['bash', 'sh', 'dash', 'ksh', 'zsh', 'fish', 'pwsh', 'powershell'].map((name) => [name, asShell(name)] as const),
  ...['python', 'python3', 'node', 'perl', 'ruby', 'php'].map((name) => [name, asInterpreter(name)] as const),
  ...['shell', 'local', 'exec', 'process'].map(
    (name) => [name, 'A command needs no executor: remove this one.'] as const,
  ),
  ...['dag', 'subworkflow', 'sub', 'parallel', 'workflow'].map((name) => [name, OTHER_WORKFLOW] as const),
  ['winrm', 'Run the command through the "ssh" executor: the machine needs an SSH server and an "sh".'],
]);

/** What to write instead of an unknown executor; null if there is no advice. */
export function executorAdvice(name: string): string | null {
  return advice.get(name.toLowerCase()) ?? null;
}

function asShell(name: string): string {
  return `For commands and scripts of this shell, write "shell: ${name}" and no executor.`;
}

function asInterpreter(name: string): string {
  return `Write "command: ${name}", the program under "script", and no executor.`;
}
