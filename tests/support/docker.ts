import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import Docker from 'dockerode';
import { isInstalled } from './require.ts';

/** A daemon with the images `wf-test:1` (busybox, no entrypoint) and `wf-entry:1` (its entrypoint prints its arguments). */
export type TestDocker = {
  readonly docker: Docker;
  /** For `DOCKER_HOST`. */
  readonly host: string;
  /** Containers of this run id, whatever their state. */
  readonly containersOf: (runId: string) => Promise<readonly Docker.ContainerInfo[]>;
  readonly stop: () => Promise<void>;
};

/** Can a test have a daemon: the one that `DOCKER_HOST` names, or one of its own? */
export const hasDocker =
  process.env['DOCKER_HOST'] !== undefined ||
  (process.getuid?.() === 0 && isInstalled('dockerd') && isInstalled('busybox'));

/** Images made for the tests, each with what `docker import` changes in it. */
const images = {
  'wf-test': [],
  'wf-entry': ['ENTRYPOINT ["/bin/echo", "entry"]', 'CMD ["of the image"]'],
} as const;

/** Finds or starts a daemon. The one started keeps everything in a temporary directory and dies with this process. */
export async function startDocker(): Promise<TestDocker> {
  const given = process.env['DOCKER_HOST'];
  const daemon = given === undefined ? await startDaemon() : { host: given, stop: async () => {} };
  const docker = new Docker(given === undefined ? { socketPath: daemon.host.slice('unix://'.length) } : {});
  try {
    await importImages(docker);
  } catch (error) {
    await daemon.stop();
    throw error;
  }
  return {
    ...daemon,
    docker,
    containersOf: (runId) => docker.listContainers({ all: true, filters: { label: [`wf.run=${runId}`] } }),
  };
}

async function startDaemon(): Promise<{ readonly host: string; readonly stop: () => Promise<void> }> {
  const dir = mkdtempSync(join(tmpdir(), 'wf-docker-'));
  const host = `unix://${dir}/docker.sock`;
  const log = join(dir, 'log');
  const options = [`--data-root=${dir}/data`, `--exec-root=${dir}/exec`, `--host=${host}`, `--pidfile=${dir}/pid`];
  // Works in a container and without rights over the network; there is none in the containers.
  const modest = ['--storage-driver=vfs', '--bridge=none', '--iptables=false', '--ip6tables=false'];
  const script = 'exec setpriv --pdeathsig TERM dockerd "$@" >"$0" 2>&1';
  const daemon = spawn('sh', ['-c', script, log, ...options, ...modest], { stdio: 'ignore', detached: true });
  const stop = async () => {
    if (daemon.exitCode === null) {
      daemon.kill('SIGTERM');
      await once(daemon, 'exit');
    }
    // Left mounted by the daemon after a container in the network of the host.
    spawnSync('umount', [`${dir}/exec/netns/default`]);
    rmSync(dir, { recursive: true, force: true });
  };
  await untilAnswering(daemon, `${dir}/docker.sock`, log);
  return { host, stop };
}

async function untilAnswering(daemon: ChildProcess, socketPath: string, log: string): Promise<void> {
  const docker = new Docker({ socketPath });
  for (;;) {
    if (daemon.exitCode !== null) throw new Error(`dockerd ended:\n${readFileSync(log, 'utf8').slice(-3000)}`);
    try {
      await docker.ping();
      return;
    } catch {
      await pause(20);
    }
  }
}

async function importImages(docker: Docker): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'wf-image-'));
  try {
    const archive = makeArchive(dir);
    for (const [repo, changes] of Object.entries(images)) {
      const answer = await docker.importImage(archive, { repo, tag: '1', changes });
      await pipeline(answer, async (parts) => {
        for await (const part of parts) if (String(part).includes('"error"')) throw new Error(String(part));
      });
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Writes a tar archive of the images' files, busybox with all its programs, into a directory. */
export function makeArchive(dir: string): string {
  const root = join(dir, 'root');
  for (const path of ['bin', 'tmp', 'etc']) mkdirSync(join(root, path), { recursive: true });
  const busybox = execFileSync('sh', ['-c', 'command -v busybox'], { encoding: 'utf8' }).trim();
  execFileSync('cp', ['-L', busybox, join(root, 'bin/busybox')]);
  for (const applet of execFileSync(busybox, ['--list'], { encoding: 'utf8' }).trim().split('\n')) {
    if (applet !== 'busybox') symlinkSync('busybox', join(root, 'bin', applet));
  }
  const archive = join(dir, 'image.tar');
  execFileSync('tar', ['-C', root, '-cf', archive, '.']);
  return archive;
}
