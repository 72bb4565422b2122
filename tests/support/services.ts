import { cpSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { temporaryDirectory } from '../executors/attempt.ts';
import { wf } from './wf.ts';

const services = resolve(import.meta.dirname, '../../fixtures/services');

/** Runs the built program on a copy of an example in `fixtures/services`, with nothing at home. */
export async function runService(name: string, env: Readonly<Record<string, string>>, args: readonly string[] = []) {
  const dir = temporaryDirectory();
  cpSync(join(services, name), dir, { recursive: true });
  const home = { HOME: dir, WF_HOME: join(dir, 'wf'), WF_REPORTER: 'plain' };
  const ended = await wf(['run', 'workflow.yaml', ...args], { cwd: dir, env: { ...home, ...env } });
  return { ended, dir };
}
