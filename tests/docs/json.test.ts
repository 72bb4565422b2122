import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Place, withPlace } from '../support/past-runs.ts';
import { type JsonSchema, problemsWith, schemas } from './json-schemas.ts';
import { textOf } from './pages.ts';
import { expectPage } from './reference-page.ts';
import { keyTable, typeText } from './schema-text.ts';

/** What prints JSON, with the schema of what it prints; as the page lists it. */
const outputs: readonly (readonly [command: string, schema: string])[] = [
  ['wf status', 'run-summary.json'],
  ['wf stop', 'run-summary.json'],
  ['wf mark', 'run-summary.json'],
  ['wf approve', 'run-summary.json'],
  ['wf reject', 'run-summary.json'],
  ['wf history', 'history.json'],
  ['wf list', 'list.json'],
  ['wf artifacts', 'artifacts.json'],
  ['wf gc', 'gc.json'],
  ['wf validate', 'validate.json'],
  ['wf dry', 'plan.json'],
  ['wf why', 'why.json'],
  ['wf backfill', 'backfill.json'],
  ['wf logs', 'log-line.json'],
  ['wf locks', 'locks.json'],
  ['wf graph', 'graph.json'],
  ['wf config', 'config.json'],
  ['wf doctor', 'doctor.json'],
  ['wf version', 'version.json'],
];

const etl = `tags: nightly
schedule: "0 3 * * *"
params: DAY=today
env:
  - MODE: fast
steps:
  - name: extract
    command: echo rows of $DAY
    output: ROWS
  - name: load
    command: sh -c 'echo bad >&2; exit 3'
    depends: extract
  - name: report
    command: echo $ROWS
    depends: load
  - name: weekly
    command: echo week
    preconditions: [{condition: a, expected: b}]
handlerOn:
  exit:
    script: echo over
`;

const read = 'steps:\n  - {name: a, command: "true", sources: read.yaml}\n';

const kept = 'steps:\n  - {command: "true", artifacts: kept.yaml}\n';

async function withRuns(use: (place: Place) => Promise<void>): Promise<void> {
  await withPlace(
    { 'etl.yaml': etl, 'kept.yaml': kept, 'read.yaml': read, 'bad.yaml': 'steps:\n  - nam: a\n' },
    async (place) => {
      mkdirSync(join(place.cwd, 'home/dags/group'), { recursive: true });
      writeFileSync(join(place.cwd, 'home/dags/group/etl.yaml'), etl);
      writeFileSync(join(place.cwd, 'home/dags/bad.yaml'), 'steps: []\n');
      await place.wf('run', 'kept.yaml');
      await place.wf('run', 'etl.yaml');
      await place.wf('run', 'etl.yaml');
      await place.wf('run', 'etl', '--dags', 'home/dags');
      await use(place);
    },
  );
}

describe('printed JSON', () => {
  test('matches its schema', { timeout: 120_000 }, async () => {
    await withRuns(async (place) => {
      const commands: readonly (readonly [string, readonly string[]])[] = [
        ['run-summary.json', ['status']],
        ['run-summary.json', ['stop', '@latest']],
        ['history.json', ['stop', 'etl', '--all']],
        ['run-summary.json', ['mark', '@latest', 'load', 'failed']],
        ['history.json', ['history']],
        ['list.json', ['list']],
        ['artifacts.json', ['artifacts', 'kept']],
        ['gc.json', ['gc', '--keep', '1']],
        ['gc.json', ['gc', '--cache', '--fingerprints']],
        ['validate.json', ['validate', 'etl.yaml', 'bad.yaml', 'none.yaml']],
        ['plan.json', ['dry', 'etl.yaml']],
        ['why.json', ['why', 'read.yaml', 'a']],
        ['graph.json', ['graph', 'etl.yaml']],
        ['config.json', ['config']],
        ['config.json', ['config', 'port']],
        ['doctor.json', ['doctor']],
        ['version.json', ['version']],
      ];
      for (const [schema, words] of commands) {
        const printed = await place.json<unknown>(...words);
        expect([words, problemsWith(schema, printed)]).toEqual([words, []]);
        expect(JSON.stringify(printed).length).toBeGreaterThan(50);
      }
      const { stdout } = await place.wf('logs', '--json');
      const lines = stdout.trimEnd().split('\n');
      expect(lines.length).toBeGreaterThan(2);
      expect(lines.flatMap((line) => problemsWith('log-line.json', JSON.parse(line)))).toEqual([]);
    });
  });

  test('of a run has every key of its schema', async () => {
    await withRuns(async (place) => {
      const summary = await place.json('status');
      const known = (schema: JsonSchema | undefined) => Object.keys(schema?.properties ?? {}).toSorted();
      // Only a strict run, one that reads dotenv files, one in a queue, one that waits for a lock, one of a daemon with a retry policy, a late one, and one that waits for an approval, has them.
      const keys = [
        ...Object.keys(summary),
        'strict',
        'dotenv',
        'queue',
        'blocked',
        'waitingFor',
        'autoRetry',
        'lateSince',
        'backfill',
      ];
      expect(keys.toSorted()).toEqual(known(schemas['run-summary.json']));
      const step = schemas['run-summary.json']?.$defs?.['step'];
      // Only a step in a container, a service, a fan-out, one that runs another workflow or on a worker, tolerates its failure, repeats, is late, has sources or waits has one.
      const rare = [
        'blocked',
        'container',
        'service',
        'child',
        'worker',
        'tolerated',
        'repetitions',
        'lateSince',
        'upToDate',
        'cache',
        'items',
        'waitingFor',
        'approval',
      ];
      expect([...Object.keys(summary.steps[0] ?? {}), ...rare].toSorted()).toEqual(known(step));
    });
  });

  test('of every command with the option is on the page', () => {
    const [, ...helps] = textOf('docs/reference/command-line.md').split('\n## wf ');
    const withOption = helps.filter((help) => /^ +--json /m.test(help)).map((help) => help.split('\n')[0] ?? '');
    expect(withOption).toContain('status');
    const listed = [...page().matchAll(/^\| `wf (\w+) [^`]*--json`/gm)].map(([, name]) => name);
    expect(withOption.filter((name) => !listed.includes(name))).toEqual([]);
  });

  test('is described on the page', () => {
    expectPage('json.md', page());
    const shown = new Set(outputs.map(([, schema]) => schema));
    const parts = ['event.json', 'diagnostic.json', 'workflow.json'];
    expect(Object.keys(schemas).filter((name) => !shown.has(name) && !parts.includes(name))).toEqual([]);
  });
});

function page(): string {
  const head = `# JSON

\`--json\` makes the commands that print data print JSON on standard output. Missing values are \`null\`, times are ISO 8601 UTC.
New versions may add keys; those listed here do not change. The schemas are in [schemas](schemas), for draft 2020-12.

| command | prints |
|---|---|
${outputs.map(([command, schema]) => `| \`${command} --json\` | ${place(schema)}, [${schema}](schemas/${schema}) |\n`).join('')}| \`wf notify --json\` | a list with \`to\`, \`host\` and \`problem\` of each notification; \`problem\` is null if it was sent |
| \`wf workers --json\` | a list with \`name\`, \`version\`, \`core\`, \`key\` (its id, or null), \`slots\`, \`running\` and \`lastSeen\` of each worker |
| \`wf init --list --json\` | a list with \`name\` and \`description\` of each template |
| \`wf schema KEY --json\` | the JSON Schema of the key |
| \`wf run --reporter json\` | [events](events.md), one per line |

\`wf stop --all --json\` prints a list of runs, as \`wf history\` does.

\`wf validate\` exits with 2 if a file is invalid, \`wf dry\` if the engine refuses the run, \`wf gc\` with 2 if a run could not be removed, \`wf notify\` with 1 if a
notification was not sent, and \`wf run\` with the [exit code](exit-codes.md) of the run. All other commands here exit with 0
whatever they print.
`;
  const names = ['run-summary.json', 'diagnostic.json', ...outputs.map(([, schema]) => schema)];
  return [head, ...[...new Set(names)].map((name) => sections(name))].join('\n');
}

function place(name: string): string {
  const title = schemas[name]?.title ?? name;
  return name === 'log-line.json' ? `[${title}s](#${anchor(title)}), one per line` : `[${title}](#${anchor(title)})`;
}

function sections(name: string): string {
  const schema = schemas[name] ?? {};
  const link = (ref: string) => {
    const [file, part] = ref.split('#/$defs/');
    const title = part === undefined ? (schemas[ref]?.title ?? ref) : heading(file || name, part);
    return `[${title}](#${anchor(title)})`;
  };
  const parts = Object.entries(schema.$defs ?? {}).map(([part, found]) => body(heading(name, part), found, link));
  return [body(schema.title ?? name, schema, link), ...parts].join('\n');
}

function body(title: string, schema: JsonSchema, link: (ref: string) => string): string {
  const lines = schema.properties === undefined ? `${capital(typeText(schema, link))}.\n` : keyTable(schema, link);
  return `## ${title}\n\n${schema.description}\n\n${lines}`;
}

/** Two files may have a part of the same name. */
function heading(name: string, part: string): string {
  return part === 'setting' || part === 'workflow' ? capital(part) : `${schemas[name]?.title}: ${part}`;
}

function capital(text: string): string {
  return text.replace(/^[a-z]/, (letter) => letter.toUpperCase());
}

function anchor(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(' ', '-')
    .replace(/[^\w-]/g, '');
}
