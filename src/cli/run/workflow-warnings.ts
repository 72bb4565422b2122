import type { ReporterKind } from '../../render/reporters/select.ts';
import type { LoadedWorkflow } from '../../service/workflows/workflows.ts';
import type { Console } from '../terminal/console.ts';

/** Prints what the file gets wrong without being invalid; for GitHub as annotations at its lines. */
export async function printWarnings(
  { warnings, sources }: LoadedWorkflow,
  reporter: ReporterKind,
  { out, err, env, errTerminal }: Console,
): Promise<void> {
  if (warnings.length === 0) return;
  const { githubAnnotation, renderDiagnostics } = await import('../../render/views/diagnostics.ts');
  const { color, unicode } = errTerminal;
  const cwd = process.cwd();
  if (reporter !== 'github') return err.write(renderDiagnostics(warnings, sources, { color, unicode, cwd }));
  const workspace = env['GITHUB_WORKSPACE'] || cwd;
  for (const warning of warnings) out.write(`${githubAnnotation(warning, { cwd: workspace })}\n`);
}
