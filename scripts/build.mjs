import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { build as esbuild, formatMessages, transform } from 'esbuild';
import { throughFaces } from './faces.mjs';
import { jqFiles } from './jq.mjs';
import { billOfMaterials, packagesOf, thirdPartyLicenses } from './licenses.mjs';
import { chunkName, pack } from './pack.mjs';
import { temporalFile } from './temporal.mjs';

/**
 * Packages that take longer to load than most runs justify, each with its own file in `dist/vendor/`. They may only be
 * loaded by `import()` (or, in synchronous code, `require()`), which then loads that file.
 */
const HEAVY = {
  'zx/core': 'zx',
  re2js: 're2js',
  'ajv/dist/2020.js': 'ajv',
  yaml: 'yaml',
  dockerode: 'dockerode',
  got: 'got',
  nodemailer: 'nodemailer',
  'prom-client': 'prom-client',
  croner: 'croner',
  cronstrue: 'cronstrue',
};

/** What the program uses of a package; the file of another package has everything. */
const USED = {
  yaml: 'Composer Document Lexer Pair Parser Scalar YAMLMap YAMLSeq isAlias isMap isScalar isSeq parse'.split(' '),
};

/**
 * Parts of the program that most runs do not need, in files of their own, with their entry modules, which are loaded by
 * `import()`.
 */
const PARTS = {
  daemon: [
    'src/cli/commands/setup/serve-command.ts',
    'src/app/daemon-app.ts',
    'src/forwarding/monitor.ts',
    'src/service/workflows/thread-tasks.ts',
  ],
  executors: ['docker', 'http', 'ssh', 'mail', 'jq', 'terraform', 'ansible'].map(
    (name) => `src/executors/${name}/${name}.ts`,
  ),
  remote: ['src/client/remote-service.ts', 'src/cli/run/start-remotely.ts'],
  report: ['src/cli/commands/history/report-command.ts'],
  engine: [
    'src/app/engine-app.ts',
    'src/app/remote-app.ts',
    'src/engine/temporal/client/temporal-engine.ts',
    'src/engine/temporal/client/temporal-host.ts',
    'src/engine/temporal/worker/worker.ts',
  ],
};

/** Output options. Lines stay short, since Node prints the line that threw. */
const SHORT = { target: 'node20.19', minifySyntax: true, lineLimit: 160, legalComments: 'none' };
const MAP = { sourcemap: 'external', sourcesContent: false };

const root = join(import.meta.dirname, '..');

/**
 * Generates what the sources import from their `generated/` folders, then builds `dist/`. Throws with a message for the
 * user.
 */
export async function build() {
  for (const script of ['build-schema.mjs', 'build-api.mjs']) {
    execFileSync(process.execPath, [join(root, 'scripts', script)], { stdio: 'inherit' });
  }
  const outDir = join(root, 'dist');
  // Imported on demand: the page's bundler takes a while to load, and tests build programs without a page.
  const { pageFiles } = await import('./page.mjs');
  await buildProgram({ entry: 'src/cli/main.ts', outDir, page: await pageFiles(root, outDir) });
}

/**
 * Builds the program: a few CommonJS files, heavy packages in files of their own, the JSON Schema, and the licences of
 * everything bundled, `page` included. Writes nothing if any part fails.
 */
export async function buildProgram({ entry, outDir, page = [] }) {
  const startedAt = new Date();
  const used = new Set();
  const plugins = [
    throughFaces(root),
    ownFiles(used),
    validatorBeside,
    dataBeside,
    leftOut,
    noColorDetection,
    installed,
  ];
  const bundles = await bundleProgram(entry, outDir, plugins);
  for (const name of [...used].sort()) {
    bundles.push(
      await bundle(join(outDir, 'vendor', `${HEAVY[name]}.cjs`), {
        stdin: await reexport(name),
        plugins: [noNativeCode, leftOut, yamlAsModules],
      }),
    );
  }
  const inputs = new Set(bundles.flatMap((file) => file.inputs));
  if (inputs.has('src/language/read/validate.ts')) {
    const entryPoints = [join(root, 'src/language/schema/generated/validate.cjs')];
    bundles.push(await bundle(join(outDir, 'vendor/validate.cjs'), { entryPoints }));
  }
  bundles.forEach(assertAscii);
  if (inputs.has('src/executors/jq/jq.ts')) bundles.push(...jqFiles(root, outDir));
  if (inputs.has('src/engine/temporal/worker/worker.ts')) bundles.push(await temporalFile(root, outDir));
  const all = [...bundles, ...page];
  writeAll(outDir, [
    ...all,
    {
      path: join(outDir, 'workflow.keys.json'),
      contents: readFileSync(join(root, 'src/language/schema/workflow.schema.json')),
    },
    { path: join(outDir, 'workflow.schema.json'), contents: await schemaForEditors() },
    { path: join(outDir, 'THIRD-PARTY-LICENSES.txt'), contents: thirdPartyLicenses(root, bundledFiles(all)) },
    {
      path: join(outDir, 'sbom.cdx.json'),
      contents: `${JSON.stringify(billOfMaterials(root, bundledFiles(all)), null, 2)}\n`,
    },
    ...(inputs.has('src/cli/asset.ts') ? [...assets(outDir), ...(await reportAssets(outDir))] : []),
    ...(inputs.has('src/server/docs/document.ts') ? [apiDocumentFile(outDir)] : []),
    { path: join(outDir, 'packages.json'), contents: JSON.stringify(packagesByFile(outDir, all), null, 2) },
  ]);
  // Files changed during the build count as newer than its result.
  utimesSync(join(outDir, 'wf.cjs'), startedAt, startedAt);
}

/** The schema for editors, as printed by `wf schema`. */
async function schemaForEditors() {
  const options = {
    entryPoints: [join(root, 'src/language/schema/editor-schema.ts')],
    bundle: true,
    write: false,
    format: 'esm',
  };
  const { outputFiles } = await esbuild(options);
  const { editorSchema } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
  const documented = JSON.parse(readFileSync(join(root, 'src/language/schema/workflow.schema.json'), 'utf8'));
  return `${JSON.stringify(editorSchema(documented), null, 2)}\n`;
}

/**
 * Joins the chunks of the program into `wf.cjs` and one file per part, each with a source map for the stacks of bugs
 * (`src/system/stack.ts`).
 */
async function bundleProgram(entry, outDir, plugins) {
  const options = { entryPoints: [entry], outdir: outDir, plugins, format: 'esm', splitting: true };
  const { outputFiles, metafile } = await compile({ ...options, minifyIdentifiers: true, ...MAP });
  const outputs = Object.entries(metafile.outputs).map(([path, output]) => ({
    name: chunkName(basename(path)),
    ...output,
  }));
  const texts = new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
  const chunks = new Map(
    outputs.map(({ name, imports, entryPoint }) => {
      const inside = imports.filter(({ external }) => !external);
      const named = (wanted) =>
        inside.filter(({ kind }) => kind === wanted).map(({ path }) => chunkName(basename(path)));
      const edges = { imports: named('import-statement'), demand: named('dynamic-import') };
      return [name, { text: texts.get(`${name}.js`), entry: entryPoint, ...edges }];
    }),
  );
  const inputsOf = new Map(outputs.map(({ name, inputs }) => [name, Object.keys(inputs)]));
  const mapOf = (name) => {
    const { sources, ...map } = JSON.parse(texts.get(`${name}.js.map`));
    return { ...map, sources: sources.map((path) => relative(root, resolve(outDir, path))) };
  };
  const files = pack(chunks, { main: chunkName(basename(entry).replace(/[.]ts$/, '.js')), parts: PARTS });
  const made = files.map(async ({ file, text, chunks }) => {
    const path = join(outDir, file === 'main' ? 'wf.cjs' : `${file}.cjs`);
    const sections = chunks.map(({ name, line }) => ({ offset: { line, column: 0 }, map: mapOf(name) }));
    const { code, map } = await shorten(text, { version: 3, sections });
    const inputs = chunks.flatMap(({ name }) => inputsOf.get(name));
    return [
      { path, contents: Buffer.from(code), inputs },
      { path: `${path}.map`, contents: Buffer.from(map), inputs: [] },
    ];
  });
  return (await Promise.all(made)).flat();
}

/** Removes white space; the resulting map leads to the sources of `map`. */
function shorten(text, map) {
  const inline = Buffer.from(JSON.stringify(map)).toString('base64');
  const options = { ...SHORT, ...MAP, minifyWhitespace: true };
  return transform(`${text}//# sourceMappingURL=data:application/json;base64,${inline}\n`, options);
}

/** Keeps names in packages with files of their own, which may inspect them. */
async function bundle(outfile, options) {
  // `import()` becomes a lazy `require`, which needs no second loader.
  const cjs = { format: 'cjs', supported: { 'dynamic-import': false } };
  const result = await compile({ ...options, ...cjs, outfile, minifyWhitespace: true });
  return { path: outfile, contents: result.outputFiles[0].contents, inputs: Object.keys(result.metafile.inputs) };
}

/** Runs esbuild with the common options. Throws with a message for the user. */
async function compile(options) {
  const result = await esbuild({
    ...options,
    absWorkingDir: root,
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    ...SHORT,
    define: { 'import.meta.dirname': '__dirname' },
    logLevel: 'silent',
  }).catch(async ({ errors }) => {
    throw new Error((await formatMessages(errors, { kind: 'error' })).join(''));
  });
  const warnings = await formatMessages(result.warnings, { kind: 'warning' });
  if (warnings.length > 0) throw new Error(`the bundler warns:\n${warnings.join('')}`);
  return result;
}

/** Redirects `import('zx/core')` and the like to their own files, and records which are used. */
function ownFiles(used) {
  return {
    name: 'own-files',
    setup(plugin) {
      plugin.onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
        if (!Object.hasOwn(HEAVY, path)) return undefined;
        if (kind !== 'dynamic-import' && kind !== 'require-call') {
          return { errors: [{ text: `"${path}" is heavy: load it by import() or require() where it is used` }] };
        }
        used.add(path);
        return { path: `./vendor/${HEAVY[path]}.cjs`, external: true };
      });
    },
  };
}

/**
 * Uses the ES modules of the package `yaml`: unused code is then dropped, and it does not read the variable LOG_STREAM,
 * with which it would print its input.
 */
const yamlAsModules = {
  name: 'yaml-as-modules',
  setup(plugin) {
    plugin.onResolve({ filter: /^yaml$/ }, () => ({ path: join(root, 'node_modules/yaml/browser/dist/index.js') }));
  },
};

/** The validator is a file of its own, which only an invalid workflow file loads. */
const validatorBeside = {
  name: 'validator-beside',
  setup(plugin) {
    plugin.onResolve({ filter: /generated\/validate\.cjs$/ }, () => ({
      path: './vendor/validate.cjs',
      external: true,
    }));
  },
};

/**
 * The documented schema and the OpenAPI document are shipped as files, which only `wf schema` and requests for the
 * document read, so they are not bundled.
 */
const dataBeside = {
  name: 'data-beside',
  setup(plugin) {
    plugin.onResolve({ filter: /workflow\.schema\.json$/ }, () => ({ path: './workflow.keys.json', external: true }));
    plugin.onResolve({ filter: /generated\/openapi\.json$/ }, () => ({ path: './openapi.json', external: true }));
  },
};

/** Packages that users install beside the program if they want what needs them. */
const installed = {
  name: 'installed',
  setup(plugin) {
    plugin.onResolve({ filter: /^@temporalio\// }, ({ path }) => ({ path, external: true }));
  },
};

/** Replaces chalk's colour detection, which loads `node:tty`: `src/cli/` decides about colours. */
const noColorDetection = {
  name: 'no-color-detection',
  setup(plugin) {
    plugin.onResolve({ filter: /^#supports-color$/ }, ({ path }) => ({ path, namespace: 'no-color' }));
    plugin.onLoad({ filter: /.*/, namespace: 'no-color' }, () => ({
      contents: 'export default { stdout: false, stderr: false };',
    }));
  },
};

/** Optional native modules of packages are not shipped; the packages work without them. */
const noNativeCode = {
  name: 'no-native-code',
  setup(plugin) {
    plugin.onResolve({ filter: /\.node$/ }, ({ path }) => ({ path, namespace: 'native' }));
    plugin.onLoad({ filter: /.*/, namespace: 'native' }, ({ path }) => ({
      contents: `throw new Error(${JSON.stringify(`native code is not shipped: ${path}`)});`,
    }));
  },
};

/**
 * Unused dependencies: what commander needs for subcommands that are programs (4 ms of every start), and dockerode for
 * `ssh://` hosts and building images (nine tenths of the code of a container step).
 */
const LEFT_OUT = {
  commander: ['node:child_process'],
  'docker-modem': ['./ssh'],
  dockerode: ['./buildkit', './session', '@balena/dockerignore', 'tar-fs'],
};

const leftOut = {
  name: 'left-out',
  setup(plugin) {
    plugin.onResolve({ filter: /^[.@\w]/ }, ({ path, importer }) => {
      const from = Object.keys(LEFT_OUT).find((name) => dirname(importer).endsWith(join('node_modules', name, 'lib')));
      return LEFT_OUT[from]?.includes(path) ? { path, namespace: 'left-out' } : undefined;
    });
    plugin.onLoad({ filter: /.*/, namespace: 'left-out' }, ({ path }) => ({
      contents: `module.exports = () => { throw new Error(${JSON.stringify(`${path} is left out`)}); };`,
    }));
  },
};

/**
 * A module with the exports that the program uses, or those that `import()` of the package has in Node, where `default`
 * may be a whole CommonJS package.
 */
async function reexport(name) {
  const all = 'default' in (await import(name)) ? ['*', '{ default }'] : ['*'];
  const names = Object.hasOwn(USED, name) ? [`{ ${USED[name].join(', ')} }`] : all;
  return {
    contents: names.map((exported) => `export ${exported} from '${name}';`).join('\n'),
    sourcefile: 'reexport.mjs',
    resolveDir: root,
  };
}

/** The launcher reads the bundle as Latin-1, the fastest way to a string. */
function assertAscii({ path, contents }) {
  if (contents.some((byte) => byte > 127)) throw new Error(`${path} contains a non-ASCII character`);
}

/** Paths of all bundled files. The validator was compiled by ajv, and lists what it contains in comments. */
function bundledFiles(bundles) {
  const validator = readFileSync(join(root, 'src/language/schema/generated/validate.cjs'), 'utf8');
  const brought = [...validator.matchAll(/^\/\/ (node_modules\/.+)$/gm)].map(([, file]) => file);
  return [...bundles.flatMap(({ inputs }) => inputs), 'node_modules/ajv/package.json', ...brought];
}

/** Files that are shipped next to the program unchanged; only some commands read them (`src/cli/asset.ts`). */
function assets(outDir) {
  const from = join(root, 'src/cli/assets');
  return readdirSync(from, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(from, join(entry.parentPath, entry.name)))
    .map((name) => ({ path: join(outDir, 'assets', name), contents: readFileSync(join(from, name)) }));
}

function apiDocumentFile(outDir) {
  const contents = readFileSync(join(root, 'src/server/generated/openapi.json'));
  return { path: join(outDir, 'openapi.json'), contents };
}

/** The style sheet and the script of the report, which it has in common with the page. */
async function reportAssets(outDir) {
  const from = join(root, 'src/page');
  const names = ['tokens', 'base', 'run', 'report', 'forced'];
  const css = names.map((name) => readFileSync(join(from, `styles/${name}.css`), 'utf8'));
  const styles = await transform(css.join(''), { loader: 'css', minify: true });
  const entryPoints = [join(from, 'enhance.mts')];
  const script = await esbuild({
    entryPoints,
    bundle: true,
    write: false,
    minify: true,
    format: 'iife',
    target: 'es2022',
  });
  return [
    { path: join(outDir, 'assets/report.css'), contents: styles.code },
    { path: join(outDir, 'assets/report.js'), contents: script.outputFiles[0].contents },
  ];
}

/** The packages in each file, for the test of what each command loads. */
function packagesByFile(outDir, bundles) {
  const programs = bundles.filter(({ path, inputs }) => !path.endsWith('.map') && inputs.length > 0);
  return Object.fromEntries(programs.map(({ path, inputs }) => [relative(outDir, path), packagesOf(inputs)]));
}

/** Replaces each file atomically, so that a program starting meanwhile finds either the old or the new one. */
function writeAll(outDir, files) {
  for (const { path, contents } of files) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(`${path}.${process.pid}`, contents);
    renameSync(`${path}.${process.pid}`, path);
  }
  const kept = new Set(files.map(({ path }) => relative(outDir, path)));
  for (const entry of readdirSync(outDir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !kept.has(relative(outDir, path))) rmSync(path, { force: true });
  }
}

if (process.argv[1] === import.meta.filename) {
  try {
    await build();
  } catch (error) {
    console.error(`build: ${error.message}`);
    process.exitCode = 1;
  }
}
