import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { build as esbuild, formatMessages, transform } from 'esbuild';
import { jqFiles } from './jq.mjs';
import { billOfMaterials, packagesOf, thirdPartyLicenses } from './licenses.mjs';
import { chunkName, pack } from './pack.mjs';

/**
 * Packages that cost more to load than most runs need, each with the name of its own file in `dist/vendor/`. They may
 * only be loaded by `import()` (or, where nothing may wait, `require()`), which then loads that file.
 */
const HEAVY = {
  'zx/core': 'zx',
  re2js: 're2js',
  dockerode: 'dockerode',
  got: 'got',
  nodemailer: 'nodemailer',
  'prom-client': 'prom-client',
  croner: 'croner',
};

/** What most runs do without is in files of its own too: each with the modules that are its entries, loaded by `import()`. */
const PARTS = {
  daemon: [
    'src/cli/commands/serve.ts',
    'src/daemon-app.ts',
    'src/forwarding/monitor.ts',
    'src/service/workflows/load-thread.ts',
  ],
  executors: ['docker', 'http', 'ssh', 'mail', 'jq', 'terraform', 'ansible'].map(
    (name) => `src/executors/${name}/${name}.ts`,
  ),
  remote: ['src/client/remote-access.ts', 'src/cli/run/run-remotely.ts', 'src/cli/run/retry-remotely.ts'],
  report: ['src/cli/commands/report.ts'],
};

/** How all is written. Lines stay short, since Node prints the one that threw. */
const SHORT = { target: 'node20.19', minifySyntax: true, lineLimit: 160, legalComments: 'none' };
const MAP = { sourcemap: 'external', sourcesContent: false };

const root = join(import.meta.dirname, '..');

/** Compiles the JSON Schema to `src/language/schema/generated/`, then makes `dist/`. Throws with a message for a person. */
export async function build() {
  execFileSync(process.execPath, [join(root, 'scripts/build-schema.mjs')], { stdio: 'inherit' });
  const outDir = join(root, 'dist');
  // Not at the top: the bundler of the page takes a while to load, and tests build programs without a page.
  const { pageFiles } = await import('./page.mjs');
  await buildProgram({ entry: 'src/cli/main.ts', outDir, page: await pageFiles(root, outDir) });
}

/**
 * Makes the program as a few CommonJS files, heavy packages in files of their own, the JSON Schema, and the licences of
 * everything bundled, `page` included. When any of it fails, nothing is written.
 */
export async function buildProgram({ entry, outDir, page = [] }) {
  const startedAt = new Date();
  const used = new Set();
  const plugins = [ownFiles(used), yamlAsModules, schemaBeside, leftOut, noColorDetection];
  const bundles = await bundleProgram(entry, outDir, plugins);
  for (const name of [...used].sort()) {
    bundles.push(
      await bundle(join(outDir, 'vendor', `${HEAVY[name]}.cjs`), {
        stdin: await reexport(name),
        plugins: [noNativeCode, leftOut],
      }),
    );
  }
  bundles.forEach(assertAscii);
  const inputs = new Set(bundles.flatMap((file) => file.inputs));
  if (inputs.has('src/executors/jq/jq-thread/thread.ts')) bundles.push(...jqFiles(root, outDir));
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
    ...(inputs.has('src/cli/asset.ts') ? assets(outDir) : []),
    { path: join(outDir, 'packages.json'), contents: JSON.stringify(packagesByFile(outDir, all), null, 2) },
  ]);
  // Whatever was changed while this ran counts as newer than what came out.
  utimesSync(join(outDir, 'wf.cjs'), startedAt, startedAt);
}

/** The schema that editors get, as `wf schema` prints it. */
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
 * The program in chunks, as splitting leaves them, joined into `wf.cjs` and a file for each of the parts. Each has a map beside
 * it that leads from a place in it to the source, for the stacks of bugs (`src/stack.ts`).
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

/** Takes the spaces out, with a map that leads to where `map` leads. */
function shorten(text, map) {
  const inline = Buffer.from(JSON.stringify(map)).toString('base64');
  const options = { ...SHORT, ...MAP, minifyWhitespace: true };
  return transform(`${text}//# sourceMappingURL=data:application/json;base64,${inline}\n`, options);
}

/** Names stay in packages of their own file, which may look at them. */
async function bundle(outfile, options) {
  // `import()` becomes a `require` that waits until it is reached, which needs no second loader.
  const cjs = { format: 'cjs', supported: { 'dynamic-import': false } };
  const result = await compile({ ...options, ...cjs, outfile, minifyWhitespace: true });
  return { path: outfile, contents: result.outputFiles[0].contents, inputs: Object.keys(result.metafile.inputs) };
}

/** One call of esbuild with what all have in common. Throws with a message for a person. */
async function compile(options) {
  const result = await esbuild({
    ...options,
    absWorkingDir: root,
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
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

/** Sends `import('zx/core')` and its like to their own files, and notes which are used. */
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
 * The package `yaml` as the ES modules that it also has: what is not used of it then stays out, and it does not look at the
 * variable LOG_STREAM, for which it would print what it reads.
 */
const yamlAsModules = {
  name: 'yaml-as-modules',
  setup(plugin) {
    plugin.onResolve({ filter: /^yaml$/ }, () => ({ path: join(root, 'node_modules/yaml/browser/dist/index.js') }));
  },
};

/** The documented schema is shipped as a file anyway; only `wf schema` reads it, so it is not put into the program too. */
const schemaBeside = {
  name: 'schema-beside',
  setup(plugin) {
    plugin.onResolve({ filter: /workflow\.schema\.json$/ }, () => ({ path: './workflow.keys.json', external: true }));
  },
};

/** Chalk's own look at the terminal, which loads `node:tty`: whether there are colours is decided in `src/cli/`. */
const noColorDetection = {
  name: 'no-color-detection',
  setup(plugin) {
    plugin.onResolve({ filter: /^#supports-color$/ }, ({ path }) => ({ path, namespace: 'no-color' }));
    plugin.onLoad({ filter: /.*/, namespace: 'no-color' }, () => ({
      contents: 'export default { stdout: false, stderr: false };',
    }));
  },
};

/** Optional native parts of packages are not shipped; where they are required, the package does without. */
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
 * What packages require for what is not used here: commander for subcommands that are programs, 4 ms of every start;
 * dockerode for `ssh://` hosts and for building images, nine tenths of what a step in a container would have to load.
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

/** A module that exports what `import()` of the package gives in Node, where `default` may be a whole CommonJS package. */
async function reexport(name) {
  const names = 'default' in (await import(name)) ? ['*', '{ default }'] : ['*'];
  return {
    contents: names.map((exported) => `export ${exported} from '${name}';`).join('\n'),
    sourcefile: 'reexport.mjs',
    resolveDir: root,
  };
}

/** The launcher reads the bundle as Latin-1, the quickest way to a string. */
function assertAscii({ path, contents }) {
  if (contents.some((byte) => byte > 127)) throw new Error(`${path} holds a character outside ASCII`);
}

/** Paths of all that went in. The compiled validator was written by ajv, and names in comments what it brought along. */
function bundledFiles(bundles) {
  const validator = readFileSync(join(root, 'src/language/schema/generated/validate.mjs'), 'utf8');
  const brought = [...validator.matchAll(/^\/\/ (node_modules\/.+)$/gm)].map(([, file]) => file);
  return [...bundles.flatMap(({ inputs }) => inputs), 'node_modules/ajv/package.json', ...brought];
}

/** What the program hands out as it is, beside it: reading it is left to the commands that need it (`src/cli/asset.ts`). */
function assets(outDir) {
  const from = join(root, 'src/cli/assets');
  return readdirSync(from, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(from, join(entry.parentPath, entry.name)))
    .map((name) => ({ path: join(outDir, 'assets', name), contents: readFileSync(join(from, name)) }));
}

/** Which packages went into which file, for the test that says what each command loads. */
function packagesByFile(outDir, bundles) {
  const programs = bundles.filter(({ path, inputs }) => !path.endsWith('.map') && inputs.length > 0);
  return Object.fromEntries(programs.map(({ path, inputs }) => [relative(outDir, path), packagesOf(inputs)]));
}

/** Each file appears whole, so that a program started meanwhile finds the old one or the new one. */
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
