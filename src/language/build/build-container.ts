import { parseSpan } from '#core/time-text.ts';
import type { ExecutorSpec, Json, JsonObject, Workflow } from '#core/workflow.ts';
import { asList, type NamedTexts, type RawContainer, type RawWorkflow } from '../raw.ts';

/** `dir` of the step, and the directory of the file. */
type Directories = { readonly dir: string | undefined; readonly fileDir: string; readonly isService?: boolean };

/** Seconds that `wf` waits for a container that it does not start itself. */
const RUNNING_TIMEOUT_SEC = 120;

/** The executor of a step with a container: `docker`, with the settings that stand for the short form. */
export function inContainer(container: string | RawContainer, { dir, fileDir, isService }: Directories): ExecutorSpec {
  const raw = typeof container === 'string' ? { exec: container } : container;
  const { env, user, exec, shell } = raw;
  const command = {
    env: env as Json | undefined,
    user,
    workingDir: insideDir(raw.workingDir, dir),
    ...(isService ? programOf(raw, 'entrypoint') : {}),
  };
  const shared = { shell: shell === undefined ? undefined : [...asList(shell)] };
  if (exec === undefined)
    return { type: 'docker', config: defined({ ...newContainer(raw, { command, fileDir }), ...shared }) };
  const running = { containerName: exec, exec: defined(command), waitSec: RUNNING_TIMEOUT_SEC };
  return { type: 'docker', config: defined({ ...running, ...shared }) };
}

/** The executor of a step in the container of the workflow. */
export function inSharedContainer(container: string | RawContainer, directories: Directories): ExecutorSpec {
  if (typeof container === 'string' || container.exec !== undefined) return inContainer(container, directories);
  return { type: 'docker', config: defined({ shared: true, dir: directories.dir }) };
}

/** The container that the steps of a run share; none if they use a running one. */
export function sharedContainer(
  container: string | RawContainer | undefined,
  fileDir: string,
): { readonly container?: JsonObject } {
  if (container === undefined || typeof container === 'string' || container.exec !== undefined) return {};
  const { waitFor, logPattern, shell, env, user, workingDir } = container;
  const program = programOf(container, 'keepalive');
  const command = { env: env as Json | undefined, user, workingDir, ...program };
  const own = { waitFor, logPattern, shell: shell === undefined ? undefined : [...asList(shell)] };
  const isIdle = program.entrypoint === KEEPALIVE.entrypoint ? true : undefined;
  return { container: defined({ ...newContainer(container, { command, fileDir }), ...own, isIdle }) };
}

/** Logins of registries; a text for a host is its login in base64. */
export function registryAuthsOf(raw: RawWorkflow['registryAuths']): Pick<Workflow, 'registryAuths'> {
  if (raw === undefined) return {};
  if (typeof raw === 'string') return { registryAuths: raw };
  const auths = Object.entries(raw).map(([host, login]) => [host, typeof login === 'string' ? { auth: login } : login]);
  return { registryAuths: Object.fromEntries(auths) };
}

const KEEPALIVE = { entrypoint: ['sleep'], cmd: ['2147483647'] };

/** The command of the container; empty for the image's own program. */
function programOf({ startup, command }: RawContainer, usual: 'keepalive' | 'entrypoint'): Loose {
  switch (startup ?? (command === undefined ? usual : 'command')) {
    case 'keepalive':
      return KEEPALIVE;
    case 'command':
      return { cmd: [...(command ?? [])] };
    case 'entrypoint':
      return {};
  }
}

function newContainer(
  raw: RawContainer,
  { command, fileDir }: { readonly command: Loose; readonly fileDir: string },
): Loose {
  const { image, pullPolicy, name, platform, volumes, ports, network, restartPolicy, keepContainer } = raw;
  return {
    image,
    pull: typeof pullPolicy === 'boolean' ? (pullPolicy ? 'always' : 'never') : pullPolicy,
    containerName: name,
    platform,
    autoRemove: keepContainer === undefined ? undefined : !keepContainer,
    container: defined({ ...command, healthcheck: healthcheckOf(raw.healthcheck) }),
    host: defined({
      binds: volumes === undefined ? undefined : [...volumes],
      networkMode: network,
      restartPolicy: restartPolicy === undefined ? undefined : restartPolicyOf(restartPolicy),
    }),
    ports: ports === undefined ? undefined : [...ports],
    fileDir,
  };
}

/** `dir` of a step, seen from `workingDir` of its container. */
function insideDir(workingDir: string | undefined, dir: string | undefined): string | undefined {
  if (dir === undefined || workingDir === undefined || /^[/$~]/.test(dir)) return dir ?? workingDir;
  return `${workingDir.replace(/\/$/, '')}/${dir}`;
}

function restartPolicyOf(text: string): JsonObject {
  const [Name = '', count] = text.split(':');
  return count === undefined ? { Name } : { Name, MaximumRetryCount: Number(count) };
}

/** Docker's API counts in nanoseconds. */
function healthcheckOf(raw: RawContainer['healthcheck']): JsonObject | undefined {
  if (raw === undefined) return undefined;
  const { test = [], interval, timeout, startPeriod, retries } = raw;
  const nanoseconds = (span: string | undefined) => (span === undefined ? undefined : (parseSpan(span) ?? 0) * 1e6);
  return defined({
    Test: testOf(test),
    Interval: nanoseconds(interval),
    Timeout: nanoseconds(timeout),
    StartPeriod: nanoseconds(startPeriod),
    Retries: retries,
  });
}

function testOf(test: NonNullable<NonNullable<RawContainer['healthcheck']>['test']>): readonly string[] {
  if (typeof test === 'string') return ['CMD-SHELL', test];
  return /^(NONE|CMD|CMD-SHELL)$/.test(test[0] ?? '') ? test : ['CMD', ...test];
}

type Loose = { readonly [key: string]: Json | NamedTexts | undefined };

/** The map without keys that have no value, and without empty maps. */
function defined(map: Loose): JsonObject {
  const isGiven = (value: Loose[string]) =>
    value !== undefined && (typeof value !== 'object' || value === null || Object.keys(value).length > 0);
  return Object.fromEntries(Object.entries(map).filter(([, value]) => isGiven(value))) as JsonObject;
}
