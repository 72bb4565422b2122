import type { Check } from './check.ts';
import { checkDocker } from './docker.ts';
import { checkPlaces, type Places } from './places.ts';
import { checkPrograms } from './programs.ts';

/** What is to be looked at: the environment and directory that steps would have, and where things are kept. */
export type Machine = {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly places: Places;
};

/** Looks at everything that a workflow may need, and changes nothing. */
export async function checkMachine({ env, cwd, places }: Machine): Promise<readonly Check[]> {
  const [programs, docker] = await Promise.all([checkPrograms(env, cwd), checkDocker(env)]);
  return [checkNode(), ...programs, docker, ...bundled, ...checkPlaces(places)];
}

/** An older one does not get here. */
function checkNode(): Check {
  return { name: 'node', ok: true, version: process.versions.node, detail: process.execPath, help: null };
}

/** Executors that need nothing of the machine. */
const bundled: readonly Check[] = ['jq', 'http', 'webhook', 'mail'].map((name) => {
  return { name, ok: true, version: null, detail: 'built in', help: null };
});
