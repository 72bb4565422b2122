import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, transform } from 'esbuild';
import { throughFaces } from './faces.mjs';

const ENTRY = 'src/engine/temporal/workflow/run-workflow.ts';

/**
 * The code of the workflow of a run in Temporal, as its workers load it: `src/core` and the driver, with the library for
 * workflows. The worker wants a map at its end, though a short one.
 */
export async function temporalFile(root, outDir) {
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  const bundled = {
    absWorkingDir: root,
    bundle: true,
    write: false,
    target: 'node20.19',
    plugins: [throughFaces(root)],
  };
  const own = await build({
    ...bundled,
    entryPoints: [ENTRY],
    format: 'cjs',
    platform: 'node',
    external: ['@temporalio/*'],
  });
  const all = await build({ ...bundled, entryPoints: [ENTRY], metafile: true, platform: 'node', logLevel: 'silent' });
  const folder = mkdtempSync(join(tmpdir(), 'wf-build-'));
  try {
    const workflowsPath = join(folder, 'workflow.js');
    writeFileSync(workflowsPath, own.outputFiles[0].contents);
    const resolving = (config) => ({
      ...config,
      resolve: { ...config.resolve, modules: [join(root, 'node_modules')] },
    });
    const logger = new DefaultLogger('ERROR');
    const { code } = await bundleWorkflowCode({ workflowsPath, webpackConfigHook: resolving, logger });
    const short = await transform(code, { minify: true, legalComments: 'none', charset: 'ascii' });
    const map = Buffer.from(JSON.stringify({ version: 3, file: 'temporal-workflow.js', sources: [], mappings: '' }));
    const contents = `${short.code}\n//# sourceMappingURL=data:application/json;base64,${map.toString('base64')}\n`;
    return {
      path: join(outDir, 'temporal-workflow.js'),
      contents: Buffer.from(contents),
      inputs: Object.keys(all.metafile.inputs),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
