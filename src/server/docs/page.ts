import { createHash } from 'node:crypto';
import type { Json, JsonObject } from '../../core/workflow.ts';
import type { OpenApiDocument } from './document.ts';
import { code, codeBlock, escapeHtml, prose } from './html.ts';
import { keyTable, typeText } from './page-schema.ts';
import { pageStyle } from './page-style.ts';

/** The page, and the headers that it needs. */
export type DocsPage = { readonly text: string; readonly headers: Readonly<Record<string, string>> };

/** The document as a page for people: one file that loads nothing else and runs nothing. */
export function docsPage(document: OpenApiDocument): DocsPage {
  const hash = createHash('sha256').update(pageStyle).digest('base64');
  return {
    text: pageText(document),
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    },
  };
}

/** One route of the document. */
type Entry = { readonly method: string; readonly path: string; readonly operation: JsonObject };

function pageText(document: OpenApiDocument): string {
  const { info, paths, components } = document;
  const entries = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Entry => ({ method: method.toUpperCase(), path, operation })),
  );
  const groups = (document['tags'] as readonly JsonObject[]).map(({ name, description }) => ({
    name: String(name),
    about: String(description),
    entries: entries.filter(({ operation }) => (operation['tags'] as readonly Json[]).includes(name ?? null)),
  }));
  const schemas = Object.entries(components.schemas);
  const toc = groups.map(
    ({ name, entries: own }) => `<h2>${escapeHtml(name)}</h2><ul>${own.map(tocLine).join('')}</ul>`,
  );
  const sections = groups.map((group) => {
    const heading = `<h2>${escapeHtml(group.name)}</h2><p>${prose(group.about)}</p>`;
    return `<section>${heading}${group.entries.map(entryText).join('')}</section>`;
  });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(info.title)} API</title><style>${pageStyle}</style></head>
<body><nav aria-label="Routes"><p class="home"><b>${escapeHtml(info.title)}</b> ${escapeHtml(info.version)}</p>
${toc.join('')}<h2>Schemas</h2><ul>${schemas.map(([name]) => `<li><a href="#schema-${name}">${name}</a></li>`).join('')}</ul></nav>
<main><h1>The API of ${escapeHtml(info.title)}</h1>
${info.description
  .split('\n\n')
  .map((part) => `<p>${prose(part)}</p>`)
  .join('')}
<p>All of this for programs: <a href="openapi.json">openapi.json</a>, OpenAPI 3.1.</p>
${sections.join('')}<section><h2>Schemas</h2>${schemas.map(schemaText).join('')}</section></main></body></html>
`;
}

function tocLine({ method, path, operation }: Entry): string {
  const title = escapeHtml(`${method} ${path}`);
  return `<li><a href="#${anchor(operation)}" title="${title}">${prose(String(operation['summary']))}</a></li>`;
}

function entryText({ method, path, operation }: Entry): string {
  const { summary, description, parameters, requestBody, responses } = operation;
  const about = typeof description === 'string' ? `<p>${prose(description)}</p>` : '';
  const needs =
    typeof operation['x-needs'] === 'string' ? `<p class="needs">Needs ${escapeHtml(operation['x-needs'])}.</p>` : '';
  const heading = `<h3 id="${anchor(operation)}"><span class="method ${method.toLowerCase()}">${method}</span> <code>${wrapped(path)}</code></h3>`;
  return `<article>${heading}<p class="summary">${prose(String(summary))}</p>${about}${needs}${parametersText(
    (parameters ?? []) as readonly JsonObject[],
  )}${bodyText(requestBody as JsonObject | undefined)}${responsesText(responses as JsonObject)}</article>`;
}

function anchor({ operationId }: JsonObject): string {
  return escapeHtml(String(operationId));
}

/** Long paths may break behind a slash. */
function wrapped(path: string): string {
  return escapeHtml(path).replaceAll('/', '/<wbr>');
}

function parametersText(parameters: readonly JsonObject[]): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map((parameter) => {
    const { name, description, schema, example } = parameter;
    const shown = example === undefined ? '' : ` Example: ${code(String(example))}`;
    const about = `${prose(String(description))}${shown}`;
    return `<tr><td>${code(String(name))}</td><td>${String(parameter['in'])}</td><td>${typeText(schema as JsonObject)}</td><td>${about}</td></tr>`;
  });
  return `<h4>Parameters</h4><table><tr><th>name</th><th>in</th><th>type</th><th>meaning</th></tr>${rows.join('')}</table>`;
}

function bodyText(body: JsonObject | undefined): string {
  if (body === undefined) return '';
  const content = body['content'] as Readonly<Record<string, JsonObject>>;
  const types = Object.keys(content).map(code).join(', ');
  const [first] = Object.values(content).filter((each) => each['example'] !== undefined);
  const schema = (first ?? Object.values(content)[0])?.['schema'] as JsonObject;
  const optional = body['required'] === true ? '' : ' <i>May be missing.</i>';
  const about = `<p>${prose(String(body['description']))}${optional} ${typeText(schema)}, as ${types}</p>`;
  return `<h4>Body</h4>${about}${exampleText(first)}`;
}

function responsesText(responses: JsonObject): string {
  const all = Object.entries(responses) as readonly (readonly [string, JsonObject])[];
  const good = all.filter(([status]) => Number(status) < 400);
  const bad = all.filter(([status]) => Number(status) >= 400);
  const codes = bad.map(([status]) => status).join(' ');
  const errors = `<dl>${bad.map(([status, response]) => answerText(status, response, 'error')).join('')}</dl>`;
  return `<h4>Answers</h4><dl>${good.map(([status, response]) => answerText(status, response, 'ok')).join('')}</dl>
<details class="errors"><summary>What can go wrong: ${codes}</summary>${errors}</details>`;
}

function answerText(status: string, { description, headers, content }: JsonObject, kind: 'ok' | 'error'): string {
  const names = Object.keys((headers ?? {}) as JsonObject).map((name) => ` ${code(name)}`);
  const kinds = Object.entries((content ?? {}) as Readonly<Record<string, JsonObject>>).map(([type, each]) => {
    return `<div class="kind">${code(type)}: ${typeText(each['schema'] as JsonObject)}</div>${exampleText(each)}`;
  });
  const shown = kind === 'error' ? '' : kinds.join('');
  return `<dt class="${kind}">${status}</dt><dd>${prose(String(description))}${names.join(',')}${shown}</dd>`;
}

function exampleText(content: JsonObject | undefined): string {
  const example = content?.['example'];
  if (example === undefined) return '';
  const text = typeof example === 'string' ? example : JSON.stringify(example, null, 2);
  return `<details><summary>Example</summary>${codeBlock(text)}</details>`;
}

function schemaText([name, schema]: [string, JsonObject]): string {
  const about = typeof schema['description'] === 'string' ? `<p>${prose(schema['description'])}</p>` : '';
  const table = keyTable(schema);
  const shown = table === '' ? `<p>${typeText(schema)}</p>` : table;
  return `<article><h3 id="schema-${escapeHtml(name)}">${escapeHtml(name)}</h3>${about}${shown}</article>`;
}
