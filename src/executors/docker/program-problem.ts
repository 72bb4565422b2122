import { DockerProblem } from './docker-problem.ts';

/**
 * Explains why a container could not start its program, from the message of the runtime, with the exit code a shell
 * would return: 127 not found, 126 not executable. Null for other causes. `where` names the image or container.
 */
export function programProblem(message: string, where: string): DockerProblem | null {
  const [, program, why = ''] = /exec: ("(?:[^"\\]|\\.)*"): (.*)$/m.exec(message) ?? [];
  if (program === undefined) return null;
  if (/executable file not found|no such file or directory/.test(why)) {
    return new DockerProblem(`${program} does not exist in ${where}`, 127);
  }
  return new DockerProblem(`${program} cannot be executed in ${where}: ${plain(why)}`, 126);
}

/** The same for everything that keeps a command from starting in a running container, such as a missing directory. */
export function startProblem(message: string, where: string): DockerProblem | null {
  const problem = programProblem(message, where);
  const [, why] = refusal.exec(message) ?? [];
  if (problem !== null || why === undefined) return problem;
  return new DockerProblem(`the command could not start in ${where}: ${plain(why.trim())}`, 126);
}

/** The prefix of the runtime's message depends on its version. */
const refusal =
  /^OCI runtime exec failed: (?:exec failed: )?(?:unable to start container process: |.*starting container process caused: )?(.+)$/m;

/** The same for a program that the init process of a container could not start. Source: tini, which Docker calls docker-init. */
export function initProblem(printed: string, exitCode: number, where: string): DockerProblem | null {
  if (exitCode !== 127 && exitCode !== 126) return null;
  const [, program, why = ''] = /^\[FATAL tini \(\d+\)\] exec (.*) failed: (.*)$/m.exec(printed) ?? [];
  if (program === undefined) return null;
  return programProblem(`exec: ${JSON.stringify(program)}: ${why.trim().toLowerCase()}`, where);
}

/** The runtime appends ": unknown" to unclassified errors. */
function plain(why: string): string {
  return why.replace(/: unknown$/, '');
}
