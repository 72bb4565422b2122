import { test } from 'vitest';
import { type ApiDocument, type ApiOperation, apiDocument } from '../support/described-answers.ts';
import type { JsonSchema } from './json-schemas.ts';
import { expectPage, table } from './reference-page.ts';
import { keyTable, typeText } from './schema-text.ts';

const everywhere = new Set(['400', '401', '403', '408', '413', '415', '421', '431', '500', '503']);
const answerHeads = ['status', 'meaning', 'body'];

type Operation = ApiOperation & {
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
};
type Tag = { readonly name: string; readonly description: string };
type Told = ApiDocument & { readonly tags: readonly Tag[]; readonly info: { readonly description: string } };

test('the reference has the current API document and its page', () => {
  const document = apiDocument() as Told;

  expectPage('openapi.json', `${JSON.stringify(document, null, 2)}\n`);
  expectPage('api.md', page(document));
});

function page(document: Told): string {
  const head = `# The API

${document.info.description}

A daemon serves this page at \`/api/docs\`, and [openapi.json](openapi.json), in OpenAPI 3.1, at \`/api/openapi.json\`.
`;
  const common = answerRows(document.paths['/api/v2/workflows/{name}/runs']?.['post'], (status) =>
    everywhere.has(status),
  );
  const errors = `Every route can return these, under \`/api/v1\` with an [ErrorV1](#errorv1); they are not repeated below:\n\n${table(answerHeads, common)}`;
  const tags = document.tags.map(({ name, description }) => {
    const own = entries(document).filter(({ operation }) => operation.tags.includes(name));
    return [`## ${name}\n\n${description}\n`, ...own.map(section)].join('\n');
  });
  const schemas = Object.entries(document.components.schemas).map(([name, schema]) => schemaSection(name, schema));
  return [head, errors, ...tags, '## Schemas\n', ...schemas].join('\n');
}

function entries({ paths }: ApiDocument) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      title: `${method.toUpperCase()} ${path}`,
      operation: operation as Operation,
    })),
  );
}

function section({ title, operation }: { readonly title: string; readonly operation: Operation }): string {
  const { summary, description, parameters = [], requestBody } = operation;
  const rows = parameters.map(({ name, in: place, description: about, schema }) => [
    `\`${name}\``,
    place,
    typeText(schema, link),
    about,
  ]);
  const answers = answerRows(operation, (status) => !everywhere.has(status));
  const parts = [
    `### ${title}\n`,
    `${summary}.${description === undefined ? '' : ` ${description}`}\n`,
    ...(rows.length === 0 ? [] : [table(['parameter', 'in', 'type', 'meaning'], rows)]),
    ...(requestBody === undefined ? [] : [bodyText(requestBody)]),
    table(answerHeads, answers),
  ];
  return parts.join('\n');
}

function answerRows(operation: ApiOperation | undefined, isShown: (status: string) => boolean) {
  const shown = Object.entries(operation?.responses ?? {}).filter(([status]) => isShown(status));
  return shown.map(([status, { description, content = {} }]) => {
    const bodies = Object.entries(content).map(
      ([type, { schema = {} }]) => `\`${type}\`: ${type.endsWith('json') ? typeText(schema, link) : 'text'}`,
    );
    return [status, description, bodies.join(', ')];
  });
}

function bodyText({ description, content }: NonNullable<Operation['requestBody']>): string {
  const [first] = Object.values(content);
  const types = Object.keys(content)
    .map((type) => `\`${type}\``)
    .join(', ');
  const example =
    first?.example === undefined ? '' : `\n\`\`\`json\n${JSON.stringify(first.example, null, 2)}\n\`\`\`\n`;
  return `Body: ${typeText(first?.schema ?? {}, link)}, as ${types}. ${description}\n${example}`;
}

function schemaSection(name: string, schema: JsonSchema): string {
  const shown = schema.properties === undefined ? `${typeText(schema, link)}\n` : keyTable(schema, link);
  const about = schema.description === undefined ? '' : `${schema.description}\n\n`;
  return `### ${name}\n\n${about}${shown}`;
}

function link(ref: string): string {
  const name = ref.replace('#/components/schemas/', '');
  return `[${name}](#${name.toLowerCase()})`;
}
