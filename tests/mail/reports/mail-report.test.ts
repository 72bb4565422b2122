import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RunSummary, StepSummary } from '#core/summary/summary.ts';
import { attachLogs, type ReportFacts, renderMailReport } from '#mail/reports/mail-notice.ts';
import { createLogFile } from '#store/files/logs/run-logs.ts';
import type { RunLogs } from '#store/logs.ts';
import { temporaryDirectory } from '../../executors/attempt.ts';

function stepSummary(name: string, changes: Partial<StepSummary> = {}): StepSummary {
  return {
    name,
    status: 'failed',
    reason: 'exit',
    error: 'exit 1',
    attempts: 1,
    exitCode: 1,
    signal: null,
    startedAt: '2026-03-01T12:00:00.000Z',
    finishedAt: '2026-03-01T12:01:05.000Z',
    durationMs: 65_000,
    outputs: {},
    log: null,
    ...changes,
  };
}

const summary: RunSummary = {
  runId: 'run-1',
  workflow: 'deploy',
  group: '',
  file: null,
  status: 'failed',
  reason: 'step',
  error: null,
  trigger: 'cli',
  scheduledFor: null,
  retryOf: 'run-0',
  params: [],
  owner: null,
  createdAt: '2026-03-01T12:00:00.000Z',
  startedAt: '2026-03-01T12:00:00.000Z',
  finishedAt: '2026-03-01T14:02:00.000Z',
  durationMs: 7_320_000,
  steps: [stepSummary('a')],
  handlers: [],
  warnings: [],
};

const facts: ReportFacts = { summary, step: null, status: 'failed', host: 'build1', tail: [], again: null };

describe('the report', () => {
  test('is the same as text and as HTML', () => {
    const { subject, message, text } = renderMailReport('[E]', { ...facts, again: 'wf retry run-1' }, [
      'a.log is left out',
    ]);
    expect(subject).toBe('[E] deploy failed');
    expect(text).toBe(`Workflow    deploy
Status      failed
Run         run-1
Retry of    run-0
Started by  cli
Started     2026-03-01 12:00:00 UTC
Finished    2026-03-01 14:02:00 UTC
Took        2h02m
Host        build1

Step  Status  Started                  Finished                 Took   Error
a     failed  2026-03-01 12:00:00 UTC  2026-03-01 12:01:05 UTC  1m05s  exit 1

a: exit 1
  log: wf logs run-1 a

a.log is left out

Retry with: wf retry run-1
`);
    expect(message).toContain('<tr><td>Took</td><td>2h02m</td></tr>');
    expect(message).toContain('<p>a.log is left out</p>\n<p>Retry with: wf retry run-1</p>');
  });

  test('has no line break in its subject, whatever the names', () => {
    const odd = {
      ...facts,
      summary: { ...summary, workflow: 'a\r\nBcc: x' },
      step: 'b\nc',
      status: 'succeeded',
    } as const;
    expect(renderMailReport(' ', odd, []).subject).toBe('a Bcc: x: step b c succeeded');
  });

  test('shows the output of a program as text, without colours and control characters', () => {
    const tail = ['\x1b[31mred\x1b[0m \x1b]0;title\x07<b>\ttab\x00', 'x'.repeat(600)];
    const { message, text } = renderMailReport(
      '',
      { ...facts, step: 'a', summary: { ...summary, steps: [{ ...stepSummary('a'), status: 'succeeded' }] }, tail },
      [],
    );
    expect(text).toContain(`Last lines of "a"\n  red <b>\ttab\n  ${'x'.repeat(500)}...\n`);
    expect(message).toContain('<pre>red &#60;b&#62;\ttab\n');
  });

  test('of a run with very many steps counts those that are not shown', () => {
    const steps = Array.from({ length: 600 }, (_, i) => stepSummary(`s${i}`));
    const { text } = renderMailReport('', { ...facts, summary: { ...summary, steps } }, []);
    expect(text.match(/^s\d+ /gm)).toHaveLength(500);
    expect(text.match(/^s\d+: exit 1/gm)).toHaveLength(20);
    expect(text).toContain('\nand 580 more failed\n');
    expect(text).toContain('\n100 more steps are not shown.\n');
  });
});

describe('attached logs', () => {
  function logsOf(sizes: readonly number[], attempts = 2) {
    const dir = temporaryDirectory();
    const pathOf = (step: string, attempt: number, stream: string) => join(dir, `${step}.${attempt}.${stream}`);
    const steps = sizes.map((size, i) => {
      writeFileSync(pathOf(`s${i}`, attempts, 'stdout'), '');
      truncateSync(pathOf(`s${i}`, attempts, 'stdout'), size);
      return stepSummary(`s${i}`, { attempts });
    });
    const file: RunLogs['file'] = (step, attempt, stream) => createLogFile(pathOf(step, attempt, stream));
    return attachLogs(
      { steps, handlers: [] },
      { file, streams: async () => ['stdout', 'stderr'], times: async () => null },
    );
  }

  test('are those of the last attempt that are not empty', async () => {
    const { attachments, cut } = await logsOf([3, 0]);
    expect({ attachments, cut }).toEqual({
      attachments: [{ filename: 's0.stdout.log', content: Buffer.alloc(3) }],
      cut: [],
    });
  });

  test('are empty for a step that was not attempted', async () => {
    expect(await logsOf([3], 0)).toEqual({ attachments: [], cut: [] });
  });

  test('are limited to 1 MiB each and 10 MiB in total', async () => {
    const mebibyte = 1024 * 1024;
    const { attachments, cut } = await logsOf([mebibyte + 1, ...Array.from({ length: 10 }, () => mebibyte)]);
    expect(attachments).toHaveLength(10);
    expect(cut).toEqual([
      's0.stdout.log contains the last 1048576 of 1048577 bytes',
      's10.stdout.log is left out (1048576 bytes)',
    ]);
  });
});
