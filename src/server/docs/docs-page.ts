import { createHash } from 'node:crypto';
import type { Json, JsonObject } from '#core/workflow.ts';
import { escapeHtml } from '#render/text.ts';
import type { ApiSchema, OpenApiDocument } from './document.ts';

/** Renders the document as an HTML page: one file without scripts or further resources. */
export function docsPage(document: OpenApiDocument) {
  const hash = createHash('sha256').update(PAGE_STYLE).digest('base64');
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
<title>${escapeHtml(info.title)} API</title><style>${PAGE_STYLE}</style></head>
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
  const heading = `<h3 id="${anchor(operation)}"><span class="method ${method.toLowerCase()}">${method}</span> <code>${escapeHtml(path).replaceAll('/', '/<wbr>')}</code></h3>`;
  return `<article>${heading}<p class="summary">${prose(String(summary))}</p>${about}${needs}${parametersText(
    (parameters ?? []) as readonly JsonObject[],
  )}${bodyText(requestBody as JsonObject | undefined)}${responsesText(responses as JsonObject)}</article>`;
}

function anchor({ operationId }: JsonObject): string {
  return escapeHtml(String(operationId));
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
  return `<h4>Responses</h4><dl>${good.map(([status, response]) => answerText(status, response, 'ok')).join('')}</dl>
<details class="errors"><summary>Errors: ${codes}</summary>${errors}</details>`;
}

function answerText(status: string, { description, headers, content }: JsonObject, kind: 'ok' | 'error'): string {
  const names = Object.keys((headers ?? {}) as JsonObject).map((name) => ` ${code(name)}`);
  const kinds = Object.entries((content ?? {}) as Readonly<Record<string, JsonObject>>).map(([type, each]) => {
    const kind = type.endsWith('json') ? typeText(each['schema'] as JsonObject) : 'text';
    return `<div class="kind">${code(type)}: ${kind}</div>${exampleText(each)}`;
  });
  const shown = kind === 'error' ? '' : kinds.join('');
  return `<dt class="${kind}">${status}</dt><dd>${prose(String(description))}${names.join(',')}${shown}</dd>`;
}

function exampleText(content: JsonObject | undefined): string {
  const example = content?.['example'];
  if (example === undefined) return '';
  const text = typeof example === 'string' ? example : JSON.stringify(example, null, 2);
  // The block scrolls, and so can be focused with the keyboard.
  return `<details><summary>Example</summary><pre tabindex="0">${escapeHtml(text)}</pre></details>`;
}

function schemaText([name, schema]: [string, JsonObject]): string {
  const about = typeof schema['description'] === 'string' ? `<p>${prose(schema['description'])}</p>` : '';
  const table = keyTable(schema);
  const shown = table === '' ? `<p>${typeText(schema)}</p>` : table;
  return `<article><h3 id="schema-${escapeHtml(name)}">${escapeHtml(name)}</h3>${about}${shown}</article>`;
}

/** The style of the API page, light and dark. */
const PAGE_STYLE = `
:root{color-scheme:light dark;--text:#1c2128;--soft:#59636e;--line:#d1d9e0;--back:#fff;--block:#f6f8fa;--link:#0550ae;--ok:#1a7f37;--error:#b3261e;--get:#0550ae;--post:#1a7f37;--delete:#b3261e}
@media (prefers-color-scheme:dark){:root{--text:#e6edf3;--soft:#9da7b3;--line:#3d444d;--back:#0d1117;--block:#161b22;--link:#6cb6ff;--ok:#57ab5a;--error:#ff7b72;--get:#6cb6ff;--post:#57ab5a;--delete:#ff7b72}}
*{box-sizing:border-box}
body{margin:0;display:grid;grid-template-columns:19rem minmax(0,1fr);font:15px/1.5 system-ui,sans-serif;color:var(--text);background:var(--back)}
nav{position:sticky;top:0;height:100vh;overflow-y:auto;padding:1rem 1.25rem;border-right:1px solid var(--line);font-size:14px}
nav .home{margin:0 0 .5rem}
nav h2{font-size:12px;margin:1rem 0 .25rem;color:var(--soft);text-transform:uppercase;letter-spacing:.04em}
nav ul{list-style:none;margin:0;padding:0}
nav li{padding:.1rem 0}
a{color:var(--link);text-decoration:none}
a:hover,a:focus-visible{text-decoration:underline}
main{padding:1.5rem 2.5rem 4rem;max-width:62rem}
h1{font-size:1.7rem;margin:.25rem 0 1rem}
section>h2{font-size:1.3rem;margin:2.5rem 0 .25rem;padding-bottom:.25rem;border-bottom:1px solid var(--line)}
article{margin:1.5rem 0 2.25rem}
h3{font-size:1.05rem;margin:0 0 .25rem;scroll-margin-top:1rem}
h4{font-size:.85rem;margin:1rem 0 .3rem;color:var(--soft)}
p{margin:.4rem 0}
.summary{font-weight:600}
.needs{color:var(--soft)}
.method{display:inline-block;min-width:3.4rem;font-size:.8rem;font-weight:700}
.get{color:var(--get)}.post,.put{color:var(--post)}.delete{color:var(--delete)}
code,pre{font:13px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
code{overflow-wrap:anywhere}
pre{background:var(--block);border:1px solid var(--line);border-radius:6px;padding:.75rem;overflow:auto;max-height:26rem;margin:.4rem 0}
table{border-collapse:collapse;width:100%;margin:.25rem 0;font-size:14px}
th,td{border:1px solid var(--line);padding:.3rem .5rem;text-align:left;vertical-align:top}
th{background:var(--block);font-weight:600;font-size:13px}
td:first-child>code{white-space:nowrap}
.errors{margin:.4rem 0}
dl{display:grid;grid-template-columns:3rem minmax(0,1fr);gap:.25rem .5rem;margin:0}
dt{font-weight:700}dd{margin:0}
.ok{color:var(--ok)}.error{color:var(--error)}
.kind{font-size:14px;color:var(--soft)}
summary{cursor:pointer;font-size:14px;color:var(--soft)}
@media (max-width:52rem){body{display:block}nav{position:static;height:auto;border-right:0;border-bottom:1px solid var(--line)}main{padding:1rem 1rem 3rem}td,th{padding:.25rem .35rem}table{display:block;overflow-x:auto}}
@media print{nav{display:none}body{display:block}}
`;

/** Describes the values of a schema in words, with links to named schemas. */
function typeText(schema: ApiSchema): string {
  const target = schema['$ref'];
  if (typeof target === 'string') return link(target);
  if ('const' in schema) return code(wordOf(schema['const'] ?? null));
  const values = schema['enum'];
  if (Array.isArray(values)) return values.map((value) => code(wordOf(value))).join(', ');
  const choices = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(choices)) return choices.map((choice) => typeText(choice as ApiSchema)).join(' or ');
  return typesOf(schema)
    .map((type) => single(type, schema))
    .join(' or ');
}

/** Renders the keys of an object as a table; empty without keys. */
function keyTable(schema: ApiSchema): string {
  const properties = Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, ApiSchema>>);
  if (properties.length === 0) return '';
  const required = (schema['required'] ?? []) as readonly string[];
  const rows = properties.map(([key, value]) => {
    const about = typeof value['description'] === 'string' ? prose(value['description']) : '';
    const mayMiss = required.includes(key) ? '' : ' <i>May be missing.</i>';
    return `<tr><td>${code(key)}</td><td>${typeText(value)}</td><td>${about}${mayMiss}${nested(value)}</td></tr>`;
  });
  return `<table><tr><th>key</th><th>type</th><th>meaning</th></tr>${rows.join('')}</table>`;
}

/** Renders objects without a name in place. */
function nested(schema: ApiSchema): string {
  const inner = [schema, schema['items'], ...((schema['anyOf'] ?? []) as readonly Json[])];
  const objects = inner.filter((each): each is JsonObject => isObject(each) && isObject(each['properties']));
  return objects.map((each) => keyTable(each)).join('');
}

function typesOf({ type }: ApiSchema): readonly string[] {
  if (typeof type === 'string') return [type];
  return Array.isArray(type) ? type.map(String) : ['any'];
}

function single(type: string, schema: ApiSchema): string {
  const { items, additionalProperties, format } = schema;
  if (type === 'array') return isObject(items) ? `list of ${typeText(items)}` : 'list';
  if (type === 'object' && isObject(additionalProperties)) return `map of ${typeText(additionalProperties)}`;
  if (type === 'string' && format === 'date-time') return 'time';
  return words[type] ?? escapeHtml(type);
}

const words: Readonly<Record<string, string>> = { string: 'text', integer: 'whole number', boolean: 'true or false' };

function link(target: string): string {
  const name = target.replace('#/components/schemas/', '');
  return `<a href="#schema-${escapeHtml(name)}">${escapeHtml(name)}</a>`;
}

function wordOf(value: Json): string {
  return value === null ? 'null' : String(value);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Formats code within a sentence. */
function code(text: string): string {
  return `<code>${escapeHtml(text)}</code>`;
}

/** Formats sentences in which backticks mark code. */
function prose(text: string): string {
  return text
    .split('`')
    .map((part, index) => (index % 2 === 0 ? escapeHtml(part) : code(part)))
    .join('');
}
