import { DockerProblem } from './problem.ts';

/**
 * Why a container could not start its program, by what the runtime says, with the exit code of a shell for it: 127 not
 * there, 126 not executable. Null when it is something else. `where` names the
 * image or container.
 */
export function programProblem(message: string, where: string): DockerProblem | null {
  const [, program, why = ''] = /exec: ("(?:[^"\\]|\\.)*"): (.*)$/m.exec(message) ?? [];
  if (program === undefined) return null;
  if (/executable file not found|no such file or directory/.test(why)) {
    return new DockerProblem(`${program} is not there in ${where}`, 127);
  }
  return new DockerProblem(`${program} cannot be executed in ${where}: ${plain(why)}`, 126);
}

/** The same for all that keeps a command from starting in a container that runs, such as a directory that is not there. */
export function startProblem(message: string, where: string): DockerProblem | null {
  const problem = programProblem(message, where);
  const [, why] = refusal.exec(message) ?? [];
  if (problem !== null || why === undefined) return problem;
  return new DockerProblem(`the command could not start in ${where}: ${plain(why.trim())}`, 126);
}

/** What the runtime says before its reason depends on its age. */
const refusal =
  /^OCI runtime exec failed: (?:exec failed: )?(?:unable to start container process: |.*starting container process caused: )?(.+)$/m;

/** The runtime adds ": unknown" to what it cannot classify. */
function plain(why: string): string {
  return why.replace(/: unknown$/, '');
}
