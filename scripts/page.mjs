import { join, relative } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';
import { throughFacesInPage } from './faces.mjs';

/** The page is small and built once: both compressions may be slow. */
const compressions = [
  ['.gz', (bytes) => gzipSync(bytes, { level: 9 })],
  ['.br', (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } })],
];

/** Builds with Vite, which would add checks for developers if the environment had another `NODE_ENV`. */
async function forProduction(options) {
  const given = process.env.NODE_ENV;
  process.env.NODE_ENV = 'production';
  try {
    return await build(options);
  } finally {
    if (given === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = given;
  }
}

/**
 * Builds the web page: its document, and files with a content hash in their names, each with compressed copies. Writes
 * nothing. Throws with a message for the user.
 */
export async function pageFiles(root, outDir) {
  const { output } = await forProduction({
    root: join(root, 'src/page'),
    configFile: false,
    // URLs are relative to the document's `<base>`, since a daemon can be served below a path.
    base: './',
    publicDir: false,
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    plugins: [throughFacesInPage(root)],
    worker: { format: 'es', plugins: () => [throughFacesInPage(root)] },
    build: {
      write: false,
      // On a slow machine the bundler would say how long its parts took.
      rolldownOptions: {
        checks: { bundlerTimings: false },
        // Every screen needs them: in one file they compress better.
        output: { codeSplitting: { groups: [{ name: 'preact', test: /node_modules\/@?preact/ }] } },
      },
      target: 'es2022',
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
    },
  });
  const inputs = output.flatMap(({ moduleIds = [] }) => moduleIds.map((id) => relative(root, id.replace(/\?.*/, ''))));
  const files = output.map(({ fileName, code, source }) => [fileName, Buffer.from(code ?? source)]);
  // The package around it is CommonJS; browsers and tools get modules.
  const kind = { path: join(outDir, 'page/package.json'), contents: '{"type":"module"}\n', inputs: [] };
  const built = files.flatMap(([name, contents]) => {
    const path = join(outDir, 'page', name);
    const own = { path, contents, inputs: name.endsWith('.html') ? inputs : [] };
    if (name.endsWith('.html')) return [own];
    return [
      own,
      ...compressions.map(([suffix, compress]) => ({ path: path + suffix, contents: compress(contents), inputs: [] })),
    ];
  });
  return [kind, ...built];
}
