import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { capture } from '#processes/capture.ts';
import type { Check } from './check.ts';

type Environment = Readonly<Record<string, string>>;

/** A program that steps may need, how to get its version, and how to install it. */
type Program = {
  readonly name: string;
  /** Option that prints the version; null if there is none. */
  readonly option: string | null;
  /** Finds the version in the output. */
  readonly version: RegExp;
  readonly help: string;
};

const number = /(\d+\.\d+\S*)/;

const programs: readonly Program[] = [
  { name: 'sh', option: null, version: number, help: 'every system has it in /bin: check PATH' },
  { name: 'bash', option: '--version', version: /version ([\d.]+)/, help: 'install the package "bash"' },
  { name: 'zsh', option: '--version', version: number, help: 'install the package "zsh"' },
  { name: 'fish', option: '--version', version: number, help: 'install the package "fish"' },
  {
    name: 'terraform',
    option: 'version',
    version: /Terraform v(\S+)/,
    help: 'install Terraform (https://developer.hashicorp.com/terraform/install)',
  },
  {
    name: 'ansible-playbook',
    option: '--version',
    version: /(\d+\.\d+[^\s\]]*)/,
    help: 'install Ansible (package "ansible-core", or "pipx install ansible-core")',
  },
  {
    name: 'ssh',
    option: '-V',
    version: /OpenSSH_([^\s,]+)/,
    help: 'install the OpenSSH client (package "openssh-client")',
  },
];

/** Time limit for printing a version, in milliseconds. */
const versionTimeoutMs = 10_000;

/** Checks all programs that steps run, in parallel. */
export async function checkPrograms(env: Environment, cwd: string): Promise<readonly Check[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'wf-doctor-'));
  try {
    // Even to print its version, Ansible creates a directory at home and Terraform contacts the network.
    const quiet = { ...env, ANSIBLE_LOCAL_TEMP: scratch, CHECKPOINT_DISABLE: '1' };
    return await Promise.all(programs.map((program) => checkProgram(program, quiet, cwd)));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function checkProgram({ name, option, version, help }: Program, env: Environment, cwd: string): Promise<Check> {
  const timeout = AbortSignal.timeout(versionTimeoutMs);
  const ask = (command: string) => capture(command, { env, cwd, shell: '/bin/sh', signal: timeout });
  const found = await ask(`command -v ${name}`);
  if (!found.ok) return { name, ok: false, version: null, detail: 'not found in PATH', help };
  const printed = option === null ? null : await ask(`${name} ${option} 2>&1`);
  const known = printed === null ? undefined : version.exec(printed.stdout)?.[1];
  if (printed?.ok === false) {
    const why = timeout.aborted ? `no answer within ${versionTimeoutMs / 1000}s` : printed.message;
    const detail = `${found.stdout} does not report its version: ${why}`;
    return { name, ok: false, version: known ?? null, detail, help: `try "${name} ${option}"` };
  }
  return { name, ok: true, version: known ?? null, detail: found.stdout, help: null };
}
