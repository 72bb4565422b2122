import { accessSync, constants, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { connect, DockerProblem, isRequestError, notDocker, requestMessage } from '#executors/docker/docker-daemon.ts';
import { capture } from '#processes/programs.ts';
import { tryOr } from '#system/errors.ts';

/** Result of one check of `wf doctor`. */
export type Check = {
  /** The subject: an executor's tool, a directory, a property of the machine. */
  readonly name: string;
  readonly ok: boolean;
  /** Null if there is none or it is unknown. */
  readonly version: string | null;
  /** One line: its location, or the problem. */
  readonly detail: string;
  /** How to fix the problem; null if there is none. */
  readonly help: string | null;
};

function passed(name: string, detail: string, version: string | null = null): Check {
  return { name, ok: true, version, detail, help: null };
}

function failed(name: string, detail: string, help: string, version: string | null = null): Check {
  return { name, ok: false, version, detail, help };
}

/** The user's directories; null if the user has no home directory. */
type CheckedDirectories = {
  readonly configDir: string | null;
  readonly dagsDir: string | null;
  readonly runsDir: string | null;
  readonly cacheDir: string | null;
  /** Directories that commands ignore because other users can change them. */
  readonly untrusted: readonly { readonly path: string; readonly why: string; readonly help: string }[];
};

/** Checks whether the directories of a run can be read and written, without writing to them. */
function checkDirectories({ configDir, dagsDir, runsDir, cacheDir, untrusted }: CheckedDirectories): readonly Check[] {
  return [
    checkDirectory('configuration', configDir),
    checkDirectory('workflows', dagsDir),
    checkDirectory('runs', runsDir),
    checkCache(cacheDir),
    ...untrusted.map(({ path, why, help }) => failed('home', `${path}: not used, ${why}`, help)),
    checkUmask(),
    checkProc(),
  ];
}

/** A missing directory counts as usable if it can be created. */
function checkDirectory(name: string, path: string | null): Check {
  if (path === null) return failed(name, 'there is no home directory', 'set HOME or WF_HOME');
  const existing = nearestExisting(path);
  const problem = directoryProblem(existing);
  if (problem === null) return passed(name, existing === path ? path : `${path} (not created yet)`);
  const help = 'change its owner or mode, or set WF_HOME to a directory that can be written';
  return failed(name, `${path}: "${existing}" ${problem}`, help);
}

/** The launcher loads no code that other users could have written. */
function checkCache(path: string | null): Check {
  const check = checkDirectory('code cache', path);
  if (path === null || !check.ok || !existsSync(path) || (statSync(path).mode & 0o022) === 0) return check;
  return failed(check.name, `${path}: not used, since others can write there`, `chmod go-w ${path}`);
}

function nearestExisting(path: string): string {
  const parent = dirname(path);
  return parent === path || existsSync(path) ? path : nearestExisting(parent);
}

function directoryProblem(path: string): string | null {
  try {
    if (!statSync(path).isDirectory()) return 'is not a directory';
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return null;
  } catch {
    return 'cannot be written';
  }
}

/** Stored runs are private whatever the umask; files made by steps are not corrected. */
function checkUmask(): Check {
  const umask = process.umask();
  const mask = umask.toString(8).padStart(4, '0');
  if ((umask & 0o700) !== 0)
    return failed('umask', `${mask}: steps cannot use the files they make`, 'set umask 077 or 022');
  if ((umask & 0o002) === 0)
    return failed('umask', `${mask}: all users can change the files that steps make`, 'set umask 022');
  return passed('umask', mask);
}

/**
 * Without /proc a process cannot be distinguished from a later one with the same number, nor leftovers of steps be
 * found.
 */
function checkProc(): Check {
  const stat = tryOr(null, () => readFileSync(join('/proc', String(process.pid), 'stat')));
  if (stat !== null) return passed('/proc', 'processes can be identified');
  return failed(
    '/proc',
    'missing: background processes of steps may not be found',
    'mount it: mount -t proc proc /proc',
  );
}

type Environment = Readonly<Record<string, string>>;

/** A program that steps may need, how to get its version, and how to install it. */
type Program = {
  readonly name: string;
  /** Option that prints the version; null if there is none. */
  readonly option: string | null;
  readonly version: RegExp;
  readonly help: string;
};

const NUMBER = /(\d+\.\d+\S*)/;

const programs: readonly Program[] = [
  { name: 'sh', option: null, version: NUMBER, help: 'every system has it in /bin: check PATH' },
  { name: 'bash', option: '--version', version: /version ([\d.]+)/, help: 'install the package "bash"' },
  { name: 'zsh', option: '--version', version: NUMBER, help: 'install the package "zsh"' },
  { name: 'fish', option: '--version', version: NUMBER, help: 'install the package "fish"' },
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

const PROGRAM_TIMEOUT_MS = 10_000;

/** Checks all programs that steps run, in parallel. */
async function checkPrograms(env: Environment, cwd: string): Promise<readonly Check[]> {
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
  const timeout = AbortSignal.timeout(PROGRAM_TIMEOUT_MS);
  const ask = (command: string) => capture(command, { env, cwd, shell: '/bin/sh', signal: timeout });
  const found = await ask(`command -v ${name}`);
  if (!found.ok) return failed(name, 'not found in PATH', help);
  const printed = option === null ? null : await ask(`${name} ${option} 2>&1`);
  const known = printed === null ? undefined : version.exec(printed.stdout)?.[1];
  if (printed?.ok === false) {
    const why = timeout.aborted ? `no answer within ${PROGRAM_TIMEOUT_MS / 1000}s` : printed.message;
    const detail = `${found.stdout} does not report its version: ${why}`;
    return failed(name, detail, `try "${name} ${option}"`, known);
  }
  return passed(name, found.stdout, known);
}

/** Checks everything that workflows may need, given the environment and directory of steps; changes nothing. */
export async function checkMachine(
  env: Environment,
  cwd: string,
  directories: CheckedDirectories,
): Promise<readonly Check[]> {
  const [programs, docker] = await Promise.all([checkPrograms(env, cwd), checkDocker(env)]);
  return [checkNode(), ...programs, docker, ...bundled, ...checkDirectories(directories)];
}

/** Always passes: the launcher refuses older versions. */
function checkNode(): Check {
  return passed('node', process.execPath, process.versions.node);
}

const bundled: readonly Check[] = ['jq', 'http', 'webhook', 'mail'].map((name) => passed(name, 'built in'));

/** A method that dockerode's types leave out. */
type Askable = { readonly version: (options: { readonly abortSignal: AbortSignal }) => Promise<{ Version?: unknown }> };

/** Time limit for the version, once the daemon has answered a ping, in milliseconds. */
const VERSION_TIMEOUT_MS = 10_000;

/** Asks the Docker daemon named by the environment for its version. */
export async function checkDocker(env: Environment): Promise<Check> {
  const stop = new AbortController().signal;
  try {
    const { docker, address } = await connect(env, { stop, over: stop });
    const { Version } = await (docker as unknown as Askable).version({
      abortSignal: AbortSignal.timeout(VERSION_TIMEOUT_MS),
    });
    if (typeof Version !== 'string') throw notDocker(address);
    return passed('docker', `a daemon at ${address}`, Version);
  } catch (error) {
    if (!(error instanceof DockerProblem) && !isRequestError(error)) throw error;
    const [detail = '', help = 'install Docker (https://docs.docker.com/engine/install)'] = split(
      requestMessage(error),
    );
    return failed('docker', detail, help);
  }
}

function split(message: string): readonly string[] {
  const at = message.indexOf('; ');
  return at < 0 ? [message] : [message.slice(0, at), message.slice(at + 2)];
}
