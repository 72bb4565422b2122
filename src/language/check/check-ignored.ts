import type { JsonObject } from '#core/workflow.ts';
import { type Path, type Problem, problem } from '../problem.ts';
import { spotIn } from '../read/spec-file.ts';
import type { ActionEntry } from './step/action-entries.ts';

/** Keys that a part of the step ignores, and what to use instead. */
type Unused = { readonly by: string; readonly help: string; readonly keys: readonly Path[] };

/** Warns about valid keys that have no effect in this step. */
export function ignoredProblems({ file, path, raw, what }: ActionEntry): Problem[] {
  const { by, help, keys } = unusedBy(raw);
  return keys.map((key) => {
    const message = `${what}: "${key.at(-1)}" is ignored: ${by} does not use it`;
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
    return { by: '"call"', help: 'Pass arguments as "args" within "call".', keys: given(['args']) };
  }
  const type = typeof executor === 'object' ? executor.type : executor;
  switch (type) {
    case 'webhook': {
      const help = 'Set "url", "method" and "body" in its "config".';
      return { by: 'the webhook executor', help, keys: given(['command', 'args']) };
    }
    case 'mail': {
      const help = 'Set "subject" and "message" in its "config".';
      return { by: 'the mail executor', help, keys: given(['command', 'script', 'args']) };
    }
    case 'docker': {
      const help = 'It applies to new containers; the settings of the command are in "exec".';
      return { by: 'a command in a running container', help, keys: unusedByExec(executor) };
    }
    default:
      return { by: '', help: '', keys: [] };
  }
}

const ofNewContainers = ['image', 'pull', 'platform', 'container', 'host', 'network'];

/** A step uses a running container if it has `exec`, or names a container and no image. */
function unusedByExec(executor: ActionEntry['raw']['executor']): readonly Path[] {
  const config: JsonObject = typeof executor === 'object' ? (executor.config ?? {}) : {};
  const { exec, image, containerName } = config;
  const isExec = exec === undefined ? image === undefined : exec !== false;
  if (!isExec || containerName === undefined) return [];
  return ofNewContainers.filter((key) => config[key] !== undefined).map((key) => ['executor', 'config', key]);
}
