import type { Precondition, Step } from '../../core/workflow.ts';

const nanosecondsPerMs = 1_000_000;

/** A step or handler as the v1 API tells it: as the file says, with nothing evaluated. */
export function stepView(step: Step): object {
  const words = typeof step.command === 'string' ? [step.command] : (step.command ?? []);
  return {
    Name: step.name,
    Description: step.description,
    Variables: step.env.map(({ name, value }) => `${name}=${value}`),
    Dir: step.dir ?? '',
    CmdWithArgs: [...words, ...step.args].join(' '),
    Command: words[0] ?? '',
    Script: step.script ?? '',
    Stdout: step.stdout ?? '',
    Stderr: step.stderr ?? '',
    Output: step.output ?? '',
    Args: [...words.slice(1), ...step.args],
    Depends: step.depends,
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

/** Preconditions as the v1 API tells them. */
export function preconditionViews(preconditions: readonly Precondition[]): readonly object[] {
  return preconditions.map(({ condition, expected }) => ({ Condition: condition, Expected: expected ?? '' }));
}

/** A step that is another workflow keeps its name and parameters where others keep their executor's settings. */
function configText({ executor }: Step, key: 'run' | 'params'): string {
  const value = executor.type === 'workflow' ? executor.config[key] : undefined;
  return typeof value === 'string' ? value : '';
}
