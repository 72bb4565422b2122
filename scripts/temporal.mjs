import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, transform } from 'esbuild';
import { throughFaces } from './faces.mjs';

/** The workflows, and what stands before each of their decisions. */
const ENTRIES = ['run-workflow', 'read-ahead'].map((name) => `src/engine/temporal/workflow/${name}.ts`);

/**
 * The code of the workflow of a run in Temporal, as its workers load it: `src/core` and the driver, with the library for
 * workflows. The worker wants a map at its end, though a short one.
 */
export async function temporalFile(root, outDir) {
  const folder = mkdtempSync(join(tmpdir(), 'wf-build-'));
  try {
    return await bundled(root, outDir, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function bundled(root, outDir, folder) {
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  const options = {
    absWorkingDir: root,
    entryPoints: ENTRIES,
    outdir: folder,
    bundle: true,
    write: false,
    platform: 'node',
    target: 'node20.19',
    plugins: [throughFaces(root)],
  };
  const own = await build({ ...options, format: 'cjs', external: ['@temporalio/*'] });
  const all = await build({ ...options, metafile: true, logLevel: 'silent' });
  for (const { path, contents } of own.outputFiles) writeFileSync(path, contents);
  const [workflowsPath, ...workflowInterceptorModules] = own.outputFiles.map(({ path }) => path);
  const { code } = await bundleWorkflowCode({
    workflowsPath,
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
