import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseSpan } from '#core/time-text.ts';
import { parseCron } from '#language/cron.ts';
import { loadWorkflow } from '#language/load.ts';

const text = readFileSync(resolve(import.meta.dirname, '../../docs/guide/scheduling.md'), 'utf8');

describe('the guide to scheduling', () => {
  const examples = [...text.matchAll(/```yaml(?: file=\S+)?\n([\s\S]*?)```/g)].map(([, yaml = '']) => yaml);

  it.each(examples)('has a valid workflow: %#', (yaml) => {
    const { workflow, diagnostics } = loadWorkflow({ text: yaml, file: null, dir: '/' });
    expect(diagnostics).toEqual([]);
    expect(workflow?.schedule.start.length).toBeGreaterThan(0);
  });

  it('shows every key of a schedule', () => {
    for (const key of [
      'start',
      'stop',
      'restart',
      'timezone',
      'overlap',
      'catchup',
      'catchupWindow',
      'restartWaitSec',
    ]) {
      expect(examples.join('\n')).toContain(`${key}:`);
    }
  });

  it('uses valid cron expressions', () => {
    const table = text.slice(text.indexOf('| written'), text.indexOf('If both'));
    const written = [...table.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);
    const expressions = written.map((word) => {
      if (word.startsWith('@')) return word;
      return /[a-z]/.test(word) ? `* * * * ${word}` : `${word} * * * *`;
    });
    expect(expressions.length).toBe(17);
    expect(expressions.filter((expression) => parseCron(expression) === null)).toEqual([]);
    const minutes = (field: string) => parseCron(`${field} * * * *`)?.minute.values.join(', ');
    expect([minutes('*/15'), minutes('10-40/10'), minutes('5/20')].join('; ')).toBe(
      '0, 15, 30, 45; 10, 20, 30, 40; 5, 25, 45',
    );
  });

  it('uses valid durations', () => {
    const [, spans = ''] = /how late a start may be: (.*), or seconds/.exec(text) ?? [];
    const lengths = [...spans.matchAll(/`(\w+)`/g)].map(([, span = '']) => parseSpan(span));
    expect(lengths).toEqual([5_400_000, 21_600_000, 216_000_000]);
  });
});
