import { untrustedPaths } from '#config/config.ts';
import { cacheDirectory, findPlaces } from '#config/directories.ts';
import { checkMachine } from '#doctor/machine.ts';
import { renderChecks } from '#render/views/checks.ts';
import { exitCodes } from '../../exit-codes.ts';
import type { CommonOptions } from '../../program/add-command.ts';
import { configFor } from '../../reference.ts';
import type { Console } from '../../terminal/console.ts';

/** The options of `wf doctor`. */
export type DoctorOptions = CommonOptions & { readonly json?: true };

/** Prints which tools workflows can use and how to install missing ones. A missing tool is not an error: exit code 0. */
export async function doctorCommand(options: DoctorOptions, console: Console): Promise<number> {
  const { configDir, dagsDir, runsDir, processEnv: env, cwd } = configFor(options, { requiresTrust: false });
  const untrusted = untrustedPaths(findPlaces(process.env, cwd), process.env);
  const places = { configDir, dagsDir, runsDir, cacheDir: cacheDirectory(process.env, cwd), untrusted };
  const checks = await checkMachine({ env, cwd, places });
  console.out.write(options.json ? `${JSON.stringify(checks, null, 2)}\n` : renderChecks(checks, console.outTerminal));
  return exitCodes.succeeded;
}
