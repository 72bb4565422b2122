import { parse } from 'acorn';

/**
 * Joins the chunks of esbuild's code splitting into a few CommonJS files. Each chunk becomes a function that runs when
 * the chunk is first needed: functions that never run stay text, which V8 neither compiles nor restores from its cache.
 * `chunks`: by name, each with its `text` (an ES module), the names of the chunks that it `imports` statically or on
 * `demand`, and the source file it is the `entry` of, if any. `parts`: by name, the entries of a separate file, which
 * is loaded on first use; everything else goes to the file `main`. Returns the text of each file, and for each chunk
 * its name and the line, from 0, at which its text starts. Chunks keep their lines.
 */
export function pack(chunks, { main, parts }) {
  const fileOf = divide(chunks, main, parts);
  const names = [...new Set(fileOf.values())];
  return names.map((file) => {
    const own = [...fileOf].filter(([, other]) => other === file).map(([name]) => name);
    let line = HEAD_LINES;
    const members = own.map((name) => {
      const text = `${quoted(name)}(){\n${toFunctionBody(chunks.get(name).text)}},\n`;
      const at = line + 1;
      line += text.split('\n').length - 1;
      return { text, chunk: { name, line: at } };
    });
    const table = members.map(({ text }) => text).join('');
    const text = file === 'main' ? mainFile(table, fileOf, main) : partFile(table);
    return { file, text, chunks: members.map(({ chunk }) => chunk) };
  });
}

/** Number of lines before the first chunk of a file. */
const HEAD_LINES = 2;

function partFile(table) {
  return `"use strict";
module.exports=($load)=>({
${table}});
`;
}

/** The exports come first: elsewhere the bundler may break a line within the words that mark a CommonJS module for tools. */
function mainFile(table, fileOf, main) {
  const elsewhere = Object.fromEntries([...fileOf].filter(([, file]) => file !== 'main'));
  return `"use strict";module.exports={};
const chunks={
${table}};
function $load(name){
if(loaded[name]===undefined){
if(chunks[name]===undefined)Object.assign(chunks,require("./"+elsewhere[name]+".cjs")($load));
loaded[name]=chunks[name]();
}
return loaded[name];
}
const elsewhere=${JSON.stringify(elsewhere)};
const loaded={};
Object.assign(module.exports,$load(${quoted(main)}));
`;
}

/** Assigns each chunk to a file: `main` if it is reachable without passing an entry of a part. */
function divide(chunks, main, parts) {
  const fileOf = new Map();
  const partOf = new Map(Object.entries(parts).flatMap(([part, entries]) => entries.map((entry) => [entry, part])));
  const entries = new Set([...chunks.values()].map(({ entry }) => entry));
  const missing = [...partOf.keys()].filter((entry) => !entries.has(entry));
  if (missing.length > 0 && missing.length < partOf.size)
    throw new Error(`nothing imports ${missing.join(', ')} on demand`);
  const roots = new Map([['main', [main]]]);
  for (const [name, { entry }] of chunks) {
    const part = partOf.get(entry);
    if (part !== undefined) roots.set(part, [...(roots.get(part) ?? []), name]);
  }
  const reach = (file, name, isRoot) => {
    const chunk = chunks.get(name);
    if (fileOf.has(name) || (!isRoot && partOf.has(chunk.entry))) return;
    fileOf.set(name, file);
    for (const next of [...chunk.imports, ...chunk.demand]) reach(file, next, false);
  };
  for (const [file, names] of roots) for (const name of names) reach(file, name, true);
  return fileOf;
}

/**
 * Converts an ES module to the body of a function that returns its exports: chunks come from `$load`, everything else
 * from `require`. Exports are read after the chunk has run, so none may be reassigned later.
 */
function toFunctionBody(text) {
  const edits = [];
  const exported = [];
  for (const node of parse(text, { ecmaVersion: 'latest', sourceType: 'module' }).body) {
    if (node.type === 'ImportDeclaration') edits.push({ ...node, text: importStatement(node) });
    else if (node.type === 'ExportNamedDeclaration' && node.source === null && node.declaration === null) {
      edits.push({ ...node, text: '' });
      exported.push(...node.specifiers.map(({ local, exported: as }) => binding(as.name, local.name)));
    } else if (node.type.startsWith('Export')) throw new Error(`a chunk has a statement of type ${node.type}`);
    else collectDynamicImports(node, edits);
  }
  const parts = [];
  let end = 0;
  for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
    const replaced = text.slice(edit.start, edit.end);
    parts.push(text.slice(end, edit.start), edit.text, replaced.replace(/[^\n]/g, ''));
    end = edit.end;
  }
  return `${parts.join('')}${text.slice(end)}\nreturn{${exported.join(',')}}`;
}

function importStatement({ specifiers, source }) {
  const named = specifiers.filter(({ type }) => type === 'ImportSpecifier');
  const whole = specifiers.filter(({ type }) => type !== 'ImportSpecifier');
  const pattern = named.map(({ imported, local }) => binding(imported.name, local.name)).join(',');
  const targets = [...whole.map(({ local }) => local.name), ...(named.length > 0 ? [`{${pattern}}`] : [])];
  const value = imported(source.value);
  return targets.length === 0 ? `${value};` : targets.map((target) => `var ${target}=${value};`).join('');
}

function collectDynamicImports(node, edits) {
  if (node.type === 'ImportExpression') {
    const text = `Promise.resolve().then(()=>${imported(node.source.value)})`;
    edits.push({ ...node, text });
    return;
  }
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child?.type === 'string') collectDynamicImports(child, edits);
    }
  }
}

function imported(path) {
  if (typeof path !== 'string') throw new Error('a chunk imports what is only known at run time');
  const chunk = chunkName(path);
  return chunk === null ? `require(${quoted(path)})` : `$load(${quoted(chunk)})`;
}

/** Null for a path outside the program. */
export function chunkName(path) {
  return /^(?:\.\/)?([^/]+)\.js$/.exec(path)?.[1] ?? null;
}

function binding(property, local) {
  return property === local ? local : `${property}:${local}`;
}

function quoted(text) {
  return JSON.stringify(text);
}
