import type { Json } from '#core/workflow.ts';
import type { Path } from '../problem.ts';
import { executorAdvice } from '../read/executor-advice.ts';
import { rightShape } from '../read/right-shape.ts';
import { executorOfType } from './step-types.ts';

/** A value of Dagu 2 that is not supported (null: the key, but for some values), and what to write instead. */
export type RefusedValue = { readonly what: string | null; readonly help: string };

const HTTP = 'Write a step with "executor: http".';
const COMMAND = 'Write a command.';

/** The replacement for step types that are not commands. */
const types: { readonly [type: string]: string } = {
  router: 'Give each of the alternative steps its own "preconditions".',
  llm: HTTP,
  agent: HTTP,
  chat: HTTP,
  harness: HTTP,
  hitl: 'Write "approval: true", or a map with "prompt" and "input".',
  webhook: 'Write "executor: {type: webhook, config: {...}}".',
  terraform: 'Write "executor: {type: terraform, config: {...}}".',
  ansible: 'Write "executor: {type: ansible, config: {...}}".',
};

/** Whether the value at a path is one of Dagu 2 that is not supported, although the key is; null for all others. */
export function refusedValue(path: Path, value: Json | undefined): RefusedValue | null {
  const key = path.at(-1);
  const isStep = path[0] === 'steps' || path[0] === 'handlerOn';
  if (isStep && path.length === 2 && typeof key === 'number' && typeof value === 'string') {
    return { what: 'a step as text', help: `Write a map: ${rightShape(path, value) ?? '- {name: NAME, script: ...}'}` };
  }
  const isKey = path.length === 1 || (isStep && path.length === 3);
  if (isKey && key === 'workerSelector') {
    return { what: null, help: 'Only "local" is supported: all runs are on this machine.' };
  }
  if (typeof value !== 'string') return null;
  if (path.length === 1 && key === 'type' && value === 'agent') return { what: '"type: agent"', help: HTTP };
  if (isKey && isStep && key === 'type' && executorOfType(value) === undefined) {
    const known = Object.hasOwn(types, value) ? types[value] : undefined;
    return { what: `the step type "${value}"`, help: known ?? executorAdvice(value) ?? COMMAND };
  }
  if (path[0] === 'secrets' && key === 'provider') {
    return { what: `the provider "${value}"`, help: 'Write "env: NAME" or "file: PATH".' };
  }
  return null;
}
