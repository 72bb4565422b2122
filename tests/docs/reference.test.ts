import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { executorTypes } from '#language/schema/schema.ts';
import { documentationOf, type KeyDoc } from '#language/schema/schema-doc.ts';
import { wf } from '../support/wf.ts';

const docs = resolve(import.meta.dirname, '../../docs/reference');

/** The paths that get a table of their own, in the order of the page. */
const sections: readonly (readonly [path: string, title: string])[] = [
  ['', 'The workflow'],
  ['runConfig', 'runConfig'],
  ['dotenv', 'dotenv'],
  ['late', 'late'],
  ['defaults', 'defaults'],
  ['steps', 'A step'],
  ['steps.preconditions', 'A precondition'],
  ['steps.locks', 'A lock'],
  ['artifacts', 'artifacts'],
  ['steps.artifacts', 'An artifact'],
  ['steps.outputs', 'An entry of `outputs`'],
  ['steps.continueOn', 'continueOn'],
  ['steps.retryPolicy', 'retryPolicy'],
  ['steps.repeatPolicy', 'repeatPolicy'],
  ['steps.approval', 'approval'],
  ['steps.parallel', 'parallel'],
  ['steps.matrix', 'matrix'],
  ['steps.cache', 'cache'],
  ['steps.service', 'service'],
  ['steps.service.readyWhen', 'readyWhen'],
  ['steps.container', 'container'],
  ['steps.container.healthcheck', 'healthcheck'],
  ['steps.call', 'call'],
  ['steps.mailOn', 'mailOn of a step'],
  ['functions', 'A function'],
  ['handlerOn', 'handlerOn'],
  ['schedule', 'schedule'],
  ['retryPolicy', 'retryPolicy of the workflow'],
  ['mailOn', 'mailOn'],
  ['smtp', 'smtp'],
  ['errorMail', 'errorMail, infoMail and waitMail'],
  ['notify', 'notify'],
  ['secrets', 'A secret'],
  ['steps.executor', 'executor'],
  ['executor.docker', 'Settings of docker'],
  ['executor.docker.exec', 'exec of docker'],
  ['executor.http', 'Settings of http'],
  ['executor.webhook', 'Settings of webhook'],
  ['executor.terraform', 'Settings of terraform'],
  ['executor.ansible', 'Settings of ansible'],
  ['executor.jq', 'Settings of jq'],
  ['executor.ssh', 'Settings of ssh'],
  ['executor.mail', 'Settings of mail'],
];

/** Paths whose keys another table has, and the settings of the Docker API, which the page refers to. */
const withoutSection: readonly string[] = [
  'precondition',
  'schedule.start',
  'steps.approval.input',
  'handlerOn.init',
  'executor.docker.container',
  'executor.docker.host',
  'executor.docker.network',
];

describe('docs/reference', () => {
  it('has the current page of the workflow file', () => {
    const head = `# The workflow file

Every key, as printed by \`wf schema\`. Case and \`_\` in keys are ignored: \`handler_on\` is \`handlerOn\`. An unknown key is an
error; keys that begin with \`x-\` are free. \`wf schema executor.docker.host\` lists the settings of the Docker API, as do
\`wf schema executor.docker.container\` and \`wf schema executor.docker.network\`.
`;
    expectPage('workflow-file.md', [head, ...sections.map(([path, title]) => section(path, title))].join('\n'));
  });

  it('has a table for every map of the workflow file', () => {
    const tables = sections.map(([path]) => keysAt(path));
    const paths = ['', ...executorTypes().map((type) => `executor.${type}`)].flatMap((path) => mapsBelow(path));

    expect(paths.filter((path) => !withoutSection.includes(path) && !tables.includes(keysAt(path)))).toEqual([]);
    expect(withoutSection.filter((path) => !paths.includes(path))).toEqual([]);
    expect(paths.length).toBeGreaterThan(sections.length);
  });

  it('has the current page of the command line', async () => {
    const head = '# The command line\n\nThe output of `wf help` for each command.\n';
    const { stdout } = await wf(['help']);
    const names = [...stdout.matchAll(/^ {2}([a-z]+)(?= )/gm)].map(([, name]) => name ?? '');
    const parts = ['## wf\n', fenced(stdout)];
    for (const name of names.filter((found) => found !== 'help')) {
      parts.push(`\n## wf ${name}\n`, fenced((await wf(['help', name])).stdout));
    }
    expect(names).toContain('run');
    expectPage('command-line.md', [head, ...parts].join('\n'));
  });
});

/** The path and the paths below it that are maps; of maps with the same keys only one, since handlers hold steps. */
function mapsBelow(path: string, seen = new Set<string>()): readonly string[] {
  const keys = documentationOf(path)?.keys ?? [];
  if (keys.length === 0 || seen.has(keysAt(path))) return [];
  seen.add(keysAt(path));
  return [path, ...keys.flatMap(({ key }) => mapsBelow(path === '' ? key : `${path}.${key}`, seen))];
}

function keysAt(path: string): string {
  return JSON.stringify(documentationOf(path)?.keys.map(({ key, description }) => [key, description]));
}

function section(path: string, title: string): string {
  const found = documentationOf(path);
  if (found === null) throw new Error(`there is no "${path}" in the schema`);
  const rows = found.keys.map((key) => `| \`${key.key}\` | ${cell(key.type)} | ${cell(meaning(key))} |`);
  const intro = found.doc.description === '' ? [] : [`${found.doc.description}\n`];
  return [`## ${title}\n`, ...intro, '| key | type | meaning |', '|---|---|---|', ...rows, ''].join('\n');
}

function meaning({ description, required, default: fallback }: KeyDoc): string {
  const facts = [
    ...(required ? ['Required.'] : []),
    ...(fallback === undefined || fallback === null ? [] : [`Default: \`${JSON.stringify(fallback)}\`.`]),
  ];
  return [description, ...facts].join(' ');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

function fenced(text: string): string {
  return `\`\`\`text\n${text.trimEnd()}\n\`\`\`\n`;
}

/** Compares a page with the generated text; `WF_UPDATE_GOLDENS=1` rewrites it. */
function expectPage(name: string, text: string): void {
  const path = resolve(docs, name);
  if (process.env['WF_UPDATE_GOLDENS'] === '1') {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  expect(readFileSync(path, 'utf8')).toBe(text);
}
