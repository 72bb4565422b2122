import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { build, transform } from 'esbuild';
import { throughFaces } from './faces.mjs';

const FOLDER = 'src/engine/temporal/workflow';
/** The workflows, and what stands before each of their decisions. */
const ENTRIES = ['run-workflow', 'read-ahead'].map((name) => `${FOLDER}/${name}.ts`);
/** The workflows of runs of earlier cores, each in a file with the name of its type. */
const EARLIER = `${FOLDER}/earlier`;

/**
 * The code of the workflow of a run in Temporal, as its workers load it: `src/core` and the driver, with the library for
 * workflows, and the code of earlier cores. The worker wants a map at its end, though a short one.
 */
export async function temporalFile(root, outDir) {
  const folder = mkdtempSync(join(tmpdir(), 'wf-build-'));
  try {
    return await bundled(root, outDir, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Keeps the code that decides about runs now, in a file in `earlier/`, before `CORE` rises:
 * `node scripts/temporal.mjs keep [ROOT]`. Returns its path.
 */
async function keepCore(root) {
  const [, core] = /export const CORE = (\d+);/.exec(
    readFileSync(join(root, 'src/engine/temporal/protocol.ts'), 'utf8'),
  );
  const options = { ...optionsOf(root), entryPoints: ENTRIES.slice(0, 1), minify: true, legalComments: 'none' };
  const { outputFiles } = await build({ ...options, outdir: root, format: 'cjs', external: ['@temporalio/*'] });
  const path = join(root, EARLIER, `wf.run.${core}.cjs`);
  mkdirSync(join(root, EARLIER), { recursive: true });
  writeFileSync(path, outputFiles[0].contents);
  return path;
}

function optionsOf(root) {
  return {
    absWorkingDir: root,
    bundle: true,
    write: false,
    platform: 'node',
    target: 'node20.19',
    plugins: [throughFaces(root)],
  };
}

async function bundled(root, outDir, folder) {
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  const options = { ...optionsOf(root), entryPoints: ENTRIES, outdir: folder };
  const own = await build({ ...options, format: 'cjs', external: ['@temporalio/*'] });
  const all = await build({ ...options, metafile: true, logLevel: 'silent' });
  for (const { path, contents } of own.outputFiles) writeFileSync(path, contents);
  const [ownPath, ...workflowInterceptorModules] = own.outputFiles.map(({ path }) => path);
  const { code } = await bundleWorkflowCode({
    workflowsPath: withEarlier(root, folder, ownPath),
    workflowInterceptorModules,
    webpackConfigHook: (config) => ({
      ...config,
      resolve: { ...config.resolve, modules: [join(root, 'node_modules')] },
    }),
    logger: new DefaultLogger('ERROR'),
  });
  const short = await transform(code, { minify: true, legalComments: 'none', charset: 'ascii' });
  const map = Buffer.from(JSON.stringify({ version: 3, file: 'temporal-workflow.js', sources: [], mappings: '' }));
  const contents = `${short.code}\n//# sourceMappingURL=data:application/json;base64,${map.toString('base64')}\n`;
  return {
    path: join(outDir, 'temporal-workflow.js'),
    contents: Buffer.from(contents),
    inputs: Object.keys(all.metafile.inputs),
  };
}

/** A module with the workflows of this core, and the runs of those before it. Temporal chooses by their types. */
function withEarlier(root, folder, ownPath) {
  const earlier = join(root, EARLIER);
  const files = existsSync(earlier) ? readdirSync(earlier).filter((name) => name.endsWith('.cjs')) : [];
  if (files.length === 0) return ownPath;
  const path = join(folder, 'workflows.cjs');
  const runs = files.map((name) => {
    const type = JSON.stringify(basename(name, '.cjs'));
    return `  ${type}: require(${JSON.stringify(join(earlier, name))})[${type}],\n`;
  });
  writeFileSync(path, `module.exports = {\n  ...require(${JSON.stringify(ownPath)}),\n${runs.join('')}};\n`);
  return path;
}

if (process.argv[1] === import.meta.filename && process.argv[2] === 'keep') {
  console.log(await keepCore(process.argv[3] ?? join(import.meta.dirname, '..')));
}
