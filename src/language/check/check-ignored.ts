import type { JsonObject } from '../../core/workflow.ts';
import { type Path, type Problem, problem } from '../problem.ts';
import { spotIn } from '../read/spec-file.ts';
import type { ActionEntry } from './action-entries.ts';

/** Who makes no use of which keys, and what counts instead. */
type Unused = { readonly by: string; readonly help: string; readonly keys: readonly Path[] };

/** Keys that are right by themselves and mean nothing to what the step runs: each is told, and the step runs without. */
export function ignoredProblems({ file, path, raw, what }: ActionEntry): Problem[] {
  const { by, help, keys } = unusedBy(raw);
  return keys.map((key) => {
    const message = `${what}: "${key.at(-1)}" is ignored, since ${by} makes no use of it`;
    const spot = spotIn(file, [...path, ...key], 'key');
    return problem('ignored-key', spot, message, { severity: 'warning', label: 'ignored', help });
  });
}

function unusedBy(raw: ActionEntry['raw']): Unused {
  const { executor, run, call } = raw;
  const given = (names: readonly ('command' | 'script' | 'args')[]) =>
    names.filter((name) => raw[name] !== undefined).map((name) => [name]);
  if (run !== undefined) return { by: '"run"', help: 'The other workflow gets "params".', keys: given(['args']) };
  if (call !== undefined) {
    return { by: '"call"', help: 'A function gets the "args" within "call".', keys: given(['args']) };
  }
  const type = typeof executor === 'object' ? executor.type : executor;
  switch (type) {
    case 'webhook': {
      const help = 'What is sent is said by "url", "method" and "body" in its "config".';
      return { by: 'the webhook executor', help, keys: given(['command', 'args']) };
    }
    case 'mail': {
      const help = 'What is sent is said by "subject" and "message" in its "config".';
      return { by: 'the mail executor', help, keys: given(['command', 'script', 'args']) };
    }
    case 'docker': {
      const help = 'It is a setting of new containers; the command has settings of its own in "exec".';
      return { by: 'a command in a running container', help, keys: unusedByExec(executor) };
    }
    default:
      return { by: '', help: '', keys: [] };
  }
}

const ofNewContainers = ['image', 'pull', 'platform', 'container', 'host', 'network'];

/** A running container is meant when the step says so, or names one and no image. */
function unusedByExec(executor: ActionEntry['raw']['executor']): readonly Path[] {
  const config: JsonObject = typeof executor === 'object' ? (executor.config ?? {}) : {};
  const { exec, image, containerName } = config;
  const isExec = exec === undefined ? image === undefined : exec !== false;
  if (!isExec || containerName === undefined) return [];
  return ofNewContainers.filter((key) => config[key] !== undefined).map((key) => ['executor', 'config', key]);
}
