import { untrustedPaths } from '#config/config.ts';
import { cacheDirectory, findDirectories } from '#config/directories.ts';
import { type Check, checkMachine } from '#doctor/machine.ts';
import { chooseGlyphs, createColors, type Terminal } from '#render/terminal.ts';
import { escapeControls } from '#render/text.ts';
import { LOCAL_ENGINE } from '#system/engine-address.ts';
import type { CommonOptions } from '../../program/add-command.ts';
import { configFor } from '../../reference.ts';
import type { Console } from '../../terminal/console.ts';
import { version } from '../../version.ts';

type DoctorOptions = CommonOptions & { readonly json?: true };

/** Prints which tools workflows can use and how to install missing ones. A missing tool is not an error: exit code 0. */
export async function doctorCommand(options: DoctorOptions, console: Console): Promise<void> {
  const config = configFor(options, { requiresTrust: false });
  const { configDir, dagsDir, runsDir, processEnv: env, cwd } = config;
  const untrusted = untrustedPaths(findDirectories(process.env, cwd), process.env);
  const directories = { configDir, dagsDir, runsDir, cacheDir: cacheDirectory(process.env, cwd), untrusted };
  const machine = checkMachine(env, cwd, directories);
  const isLocal = config.settings.read('engine').value === LOCAL_ENGINE;
  const ofEngine = isLocal ? [] : await (await import('#app/engine-app.ts')).checkEngine(config, version);
  const checks = [...(await machine), ...ofEngine];
  console.out.write(options.json ? `${JSON.stringify(checks, null, 2)}\n` : renderChecks(checks, console.outTerminal));
}

/** Renders one line per check, and one with the fix for each failed check. Ends with a line break. */
function renderChecks(checks: readonly Check[], { color, unicode }: Pick<Terminal, 'color' | 'unicode'>): string {
  const colors = createColors(color);
  const { status } = chooseGlyphs(unicode);
  const widths = {
    name: Math.max(...checks.map(({ name }) => name.length)),
    version: Math.max(...checks.map(({ version }) => (version ?? '').length)),
  };
  const lines = checks.flatMap(({ name, ok, version, detail, help }) => [
    [
      ok ? colors.green(status.succeeded) : colors.red(status.failed),
      name.padEnd(widths.name),
      escapeControls(version ?? '').padEnd(widths.version),
      escapeControls(detail),
    ].join('  '),
    ...(help === null ? [] : [`   ${colors.dim(`help: ${escapeControls(help)}`)}`]),
  ]);
  return lines.map((line) => `${line}\n`).join('');
}
