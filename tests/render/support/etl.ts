import type { Reporter } from '#render/reporters/reporter.ts';
import { handler, step, workflow } from '../../support/workflow.ts';
import { etlPosition, failedSummary, recapOf, type StoryHooks, stepSummary, tell } from './story.ts';

/** A workflow with all kinds of steps. */
export const etl = workflow({
  name: 'nightly-etl',
  file: '/project/etl.yaml',
  steps: [
    step('extract', { command: 'python extract.py' }),
    step('validate', { command: 'bash', script: 'set -eu\n./validate\n', retry: { limit: 2, intervalMs: 5000 } }),
    step('load', { command: 'python load.py', depends: ['extract', 'validate'] }),
    step('index', { command: ['./index', '--all'], depends: ['extract'] }),
    step('weekly-only', { command: 'true' }),
    step('report', {
      command: 'POST http://host/',
      executor: { type: 'http', config: {} },
      depends: ['load', 'index'],
    }),
  ],
  handlers: { failure: handler('failure', { command: 'notify failed' }) },
});

/** Reports a whole run of it, with retries, a skip, colours, progress bars, a failure and a handler. */
export function tellEtl(reporter: Reporter, hooks: StoryHooks = {}): void {
  const { positions, tails } = etlEnd;
  tell(reporter, etl, hooks)
    .begin([
      { name: 'env', value: 'prod' },
      { name: null, value: 'two words' },
    ])
    .start('extract')
    .start('validate')
    .finish('weekly-only', { status: 'skipped', attempt: 0, message: '`date +%u` was "5", expected "7"' })
    .at(300)
    .output('extract', 'copied 1')
    .output('validate', 'checking\n', 'stderr')
    .output('extract', '00 rows\n')
    .retry('validate', 5000)
    .at(1200)
    .finish('extract')
    .start('index')
    .output('index', 'shard 1/8\rshard 2/8\rshard 3/8')
    .at(5300)
    .start('validate', 2)
    .at(5600)
    .finish('validate', { attempt: 2 })
    .start('load')
    .output('load', '\u001b[31mred\nstill red\u001b[0m plain\n')
    .at(6000)
    .output('index', '\rshard 8/8\n')
    .finish('index')
    .at(13_000)
    .output('load', 'connection refused', 'stderr')
    .fail('load')
    .finish('report', { status: 'upstream_failed', attempt: 0, message: 'load failed' })
    .event((at) => ({ type: 'run.handling', at, status: 'failed', reason: 'step', handlers: ['failure'] }))
    .start('handlerOn.failure')
    .at(14_000)
    .finish('handlerOn.failure')
    .event((at) => ({ type: 'run.warned', at, step: null, message: 'the mail to ops@example.org was not sent' }))
    .event((at) => ({ type: 'run.finished', at, status: 'failed', reason: 'step', message: '' }));
  reporter.end(recapOf(etlEnd.summary, { positions, tails }));
}

/** The recap of that run. */
export const etlEnd = {
  summary: {
    status: 'failed',
    reason: 'step',
    warnings: ['the mail to ops@example.org was not sent'],
    steps: [
      stepSummary('extract'),
      stepSummary('validate', { attempts: 2 }),
      failedSummary('load'),
      stepSummary('index'),
      stepSummary('weekly-only', { status: 'skipped', attempts: 0 }),
      stepSummary('report', { status: 'upstream_failed', attempts: 0 }),
    ],
    handlers: [stepSummary('handlerOn.failure')],
  },
  positions: new Map([['load', etlPosition(14, 5)]]),
  tails: new Map([['load', ['red', 'connection refused']]]),
} as const;
