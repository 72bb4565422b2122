import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadWorkflow } from '#language/load.ts';

const steps = 'steps: [{name: one, command: "true"}]\n';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'wf-schedule-'));
  mkdirSync(join(dir, 'dags'));
});
afterEach(() => rmSync(dir, { recursive: true }));

/** Loads a file with these lines; `files` are in the same directory. */
function load(lines: string, files: Readonly<Record<string, string>> = {}, base: string | null = null) {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, 'dags', name), text);
  const file = join(dir, 'dags/w.yaml');
  writeFileSync(file, `${lines}\n${steps}`);
  if (base !== null) writeFileSync(join(dir, 'base.yaml'), base);
  const { workflow, diagnostics, sources } = loadWorkflow({ file, base: join(dir, 'base.yaml') });
  const problems = diagnostics.map(({ message, position }) => {
    return `${position?.file.slice(dir.length + 1)}:${position?.start.line}:${position?.start.column} ${message}`;
  });
  return { schedule: workflow?.schedule ?? null, problems, paths: sources.map(({ path }) => path) };
}

describe('kinds of entries', () => {
  it('an entry may name its kind, in a list, alone and below an action', () => {
    const cron = '{kind: cron, expression: "0 5 * * *"}';
    const at = '{kind: at, at: "2026-12-24T18:00:00+01:00"}';
    expect(load(`schedule: ["0 4 * * *", ${cron}, ${at}]`).schedule?.start).toEqual([
      '0 4 * * *',
      '0 5 * * *',
      '2026-12-24T17:00:00.000Z',
    ]);
    expect(load(`schedule: ${cron}`).schedule?.start).toEqual(['0 5 * * *']);
    expect(load(`schedule: {start: ${at}, stop: [${cron}]}`).schedule).toMatchObject({
      start: ['2026-12-24T17:00:00.000Z'],
      stop: ['0 5 * * *'],
    });
  });

  it.each([
    ['{kind: cron}', 'w.yaml:1:11 "kind: cron" needs an "expression"'],
    ['{kind: at}', 'w.yaml:1:11 "kind: at" needs "at"'],
    ['{kind: at, at: tomorrow}', 'w.yaml:1:26 "tomorrow" is not a date and time with an offset from UTC'],
    ['{kind: at, at: "2026-02-30T00:00:00Z"}', '"2026-02-30T00:00:00Z" is not a date and time with an offset from UTC'],
    ['{kind: cron, expression: "0 25 * * *"}', 'invalid cron expression "0 25 * * *"'],
    ['{kind: cron, at: "2026-12-24T18:00:00Z"}', '"at" is not a key of "kind: cron"'],
    ['{stop: {kind: at, at: "2026-12-24T18:00:00Z"}}', '"kind: at" is only for "start", not for "stop"'],
    ['{kind: cron, expression: "0 5 * * *", stop: "0 6 * * *"}', '"kind" and "stop" exclude each other'],
    ['{kind: never}', '"kind"'],
  ])('%s is an error', (schedule, message) => {
    const { problems } = load(`schedule: ${schedule}`);
    expect(problems.length).toBe(1);
    expect(problems[0]).toContain(message);
  });
});

describe('notOn', () => {
  const schedule = 'schedule: "0 5 * * *"';

  it('is a day, a list of days, or a file of days below the directory of the workflow', () => {
    const text = '# holidays\n12-25  # every year\n\n  2026-04-06\n';
    expect(load(`${schedule}\nnotOn: "12-25"`).schedule?.notOn).toEqual(['12-25']);
    expect(load(`${schedule}\nnotOn: [2026-12-25, 02-29]`).schedule?.notOn).toEqual(['2026-12-25', '02-29']);
    const read = load(`${schedule}\nnotOn: days.txt`, { 'days.txt': text });
    expect(read.schedule?.notOn).toEqual(['12-25', '2026-04-06']);
    expect(
      load(`${schedule}\nnotOn: [days.txt, 12-31, more.txt]`, { 'days.txt': text, 'more.txt': '05-01' }),
    ).toMatchObject({
      schedule: { notOn: ['12-25', '2026-04-06', '12-31', '05-01'] },
      problems: [],
    });
    // The daemon watches the files of the sources.
    expect(read.paths).toContain(join(dir, 'dags/days.txt'));
  });

  it('in the base applies to files without one; its file is next to the base', () => {
    writeFileSync(join(dir, 'days.txt'), '05-01\n');
    expect(load(schedule, {}, 'notOn: days.txt\n').schedule?.notOn).toEqual(['05-01']);
    expect(load(`${schedule}\nnotOn: ["12-25"]`, {}, 'notOn: days.txt\n').schedule?.notOn).toEqual(['12-25']);
  });

  it.each([
    ['["12-25", "13-01"]', {}, 'dags/w.yaml:2:18 "13-01" is not a day'],
    ['["2026-02-29"]', {}, '"2026-02-29" is not a day'],
    ['[12-25, none.txt]', {}, 'dags/w.yaml:2:16 the file "none.txt" of "notOn" does not exist'],
    ['none.txt', {}, 'dags/w.yaml:2:8 the file "none.txt" of "notOn" does not exist'],
    ['../base.yaml', {}, 'is outside the directory of the workflow file'],
    ['days.txt', { 'days.txt': '12-25\n  christmas\n' }, 'dags/days.txt:2:3 "christmas" is not a day'],
  ])('%s is an error', (days, files, message) => {
    const { problems } = load(`${schedule}\nnotOn: ${days}`, files, '');
    expect(problems.length).toBe(1);
    expect(problems[0]).toContain(message);
  });

  it('without a schedule has no effect, which is a warning', () => {
    expect(load('notOn: "12-25"').problems).toEqual(['dags/w.yaml:1:1 "notOn" has no effect without a "schedule"']);
  });
});
