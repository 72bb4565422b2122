import { isAbsolute, join } from 'node:path';
import { handlerKind, type Precondition, type Step } from '#core/workflow.ts';

const nanosecondsPerMs = 1_000_000;

/** Converts a step or handler as written in the file, without evaluation; `dir`: the default directory of steps. */
export function stepView(step: Step, dir: string): object {
  return {
    Name: shownName(step.name),
    Description: step.description,
    Variables: step.env.map(({ name, value }) => `${name}=${value}`),
    Dir: effectiveDir(step.dir, dir),
    ...commandView(step),
    Script: step.script ?? '',
    Stdout: step.stdout ?? '',
    Stderr: step.stderr ?? '',
    Output: step.output ?? '',
    // Clients treat an empty list as an edge of the graph.
    Depends: step.depends.length === 0 ? null : step.depends,
    ContinueOn: { Failure: step.continueOn.failure, Skipped: step.continueOn.skipped },
    RetryPolicy: { Limit: step.retry.limit, Interval: step.retry.intervalMs * nanosecondsPerMs },
    RepeatPolicy: { Repeat: step.repeat !== null, Interval: (step.repeat?.intervalMs ?? 0) * nanosecondsPerMs },
    MailOnError: step.mailOn.failure,
    Preconditions: preconditionViews(step.preconditions),
    SignalOnStop: step.signalOnStop,
    ExecutorConfig: { Type: step.executor.type === 'command' ? '' : step.executor.type },
    Run: configText(step, 'run'),
    Params: configText(step, 'params'),
  };
}

/** Returns the name of a step or handler in the v1 API: `onExit` for `handlerOn.exit`. */
export function shownName(name: string): string {
  const kind = handlerKind(name);
  return kind === null ? name : `on${kind.charAt(0).toUpperCase()}${kind.slice(1)}`;
}

/** Resolves a directory; one that begins with a variable may be absolute and is kept as written. */
function effectiveDir(own: string | null, dir: string): string {
  if (own === null) return dir;
  return isAbsolute(own) || /^[$`]/.test(own) ? own : join(dir, own);
}

/** Splits a command into the program and its arguments, at blanks, quotes included. */
function commandView(step: Step): object {
  if (step.executor.type === 'workflow') {
    const words = [configText(step, 'run'), configText(step, 'params')].filter((text) => text !== '');
    return { CmdWithArgs: words.join(' '), Command: 'run', Args: words };
  }
  const words = typeof step.command === 'string' ? step.command.split(/\s+/) : (step.command ?? []);
  const [Command = '', ...rest] = words.filter((word) => typeof step.command !== 'string' || word !== '');
  const text = typeof step.command === 'string' ? [step.command] : words;
  return { CmdWithArgs: [...text, ...step.args].join(' '), Command, Args: [...rest, ...step.args] };
}

/** Converts preconditions for the v1 API. */
export function preconditionViews(preconditions: readonly Precondition[]): readonly object[] {
  return preconditions.map(({ condition, expected }) => ({ Condition: condition, Expected: expected ?? '' }));
}

/** Reads a field of the executor's settings, in which a sub-workflow step has its workflow and parameters. */
function configText({ executor }: Step, key: 'run' | 'params'): string {
  const value = executor.type === 'workflow' ? executor.config[key] : undefined;
  return typeof value === 'string' ? value : '';
}
