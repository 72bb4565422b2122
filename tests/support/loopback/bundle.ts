import { symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';

const root = resolve(import.meta.dirname, '../../..');
const { throughFaces }: { readonly throughFaces: (root: string) => Plugin } = await import(
  join(root, 'scripts/faces.mjs')
);

/** Packages stay where they are installed. */
const installedPackages: Plugin = {
  name: 'installed-packages',
  setup: ({ onResolve }) => {
    const { resolve } = createRequire(join(root, 'package.json'));
    onResolve({ filter: /^[^./#]/ }, ({ path, kind }) =>
      kind === 'entry-point' || path.startsWith('node:') ? undefined : { path: resolve(path), external: true },
    );
  },
};

/** Compiles `programs/worker.ts` into a directory. Resolves to the path of the program. */
export async function bundleWorker(directory: string): Promise<string> {
  const outfile = join(directory, 'worker.cjs');
  await build({
    entryPoints: [join(import.meta.dirname, 'programs/worker.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20.19',
    absWorkingDir: root,
    supported: { 'dynamic-import': false },
    define: { 'import.meta.dirname': '__dirname' },
    plugins: [throughFaces(root), installedPackages],
  });
  symlinkSync(join(root, 'src/executors/jq/jq-thread'), join(directory, 'jq-thread'));
  return outfile;
}
