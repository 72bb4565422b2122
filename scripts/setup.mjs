import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { linkSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Prepares a checkout for running and testing: installs the packages of the lockfile if `node_modules` differs from it,
 * and builds if a source is newer than the build. Needs Node and npm, and the network only to install. Prints nothing
 * if there is nothing to do.
 */

const root = join(import.meta.dirname, '..');
const BUILD_INPUTS = ['src', 'scripts', 'docs/reference/schemas', 'package.json', 'package-lock.json'];
/** The name of folders that the build generates. */
const GENERATED = 'generated';

async function setup() {
  if (isInstalled() && isBuilt()) return;
  const release = await takeLock();
  try {
    if (!isInstalled()) install();
    if (!isBuilt()) await buildProject();
  } finally {
    release();
  }
}

/** Whether `node_modules` matches the lockfile. Optional packages depend on the platform. */
function isInstalled() {
  const wanted = readPackages(join(root, 'package-lock.json'));
  if (wanted === null) throw new Error('package-lock.json is missing');
  const present = readInstalled();
  return present !== null && contains(present, wanted) && contains(wanted, present);
}

/** The installed packages; null if there are none, or if another setup is installing them. */
function readInstalled() {
  try {
    return readPackages(join(root, 'node_modules/.package-lock.json'));
  } catch (error) {
    // npm has written a part of the file.
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Whether one set contains each package of the other in the same version, except optional ones. */
function contains(these, those) {
  return Object.entries(those).every(([path, { version, optional }]) => {
    return these[path] === undefined ? optional === true : these[path].version === version;
  });
}

/** The packages of a lockfile by path, without the project itself; null if the file does not exist. */
function readPackages(file) {
  try {
    const { '': _project, ...packages } = JSON.parse(readFileSync(file, 'utf8')).packages;
    return packages;
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Not `npm ci`, which refuses a lockfile without the optional packages of other platforms; npm writes such a lockfile
 * if the registry lacks them.
 */
function install() {
  console.error('setup: installing the packages of package-lock.json');
  const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm'];
  const options = ['--no-save', '--include=dev', '--include=optional', '--no-audit', '--no-fund'];
  // No package needs its install script here, so none may run one.
  const args = [...npm.slice(1), 'install', '--ignore-scripts', ...options];
  const { status, error } = spawnSync(npm[0], args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (error !== undefined) throw new Error(`npm cannot be started: ${error.message}`);
  if (status !== 0)
    throw new Error('"npm install" failed, see above; it needs the package registry or a filled npm cache');
  if (!isInstalled()) throw new Error('what npm installed is not what package-lock.json names');
}

async function buildProject() {
  // Imported on demand: esbuild may just have been installed.
  const { build } = await import('./build.mjs');
  await build();
}

function isBuilt() {
  const built = statSync(join(root, 'dist/wf.cjs'), { throwIfNoEntry: false });
  return built !== undefined && BUILD_INPUTS.every((input) => newestTime(join(root, input)) < built.mtimeMs);
}

/** Time of the last change of a file, or of anything in a folder, in ms; removing a file changes its folder. */
function newestTime(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  if (basename(path) === GENERATED) return 0;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newestTime(join(path, name))));
}

/**
 * Allows one setup of this checkout at a time; ignores locks of dead processes. Resolves to a function that releases
 * the lock.
 */
async function takeLock() {
  const name = createHash('sha256').update(root).digest('hex').slice(0, 12);
  const file = join(tmpdir(), `wf-setup-${process.getuid?.() ?? 0}-${name}.lock`);
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, String(process.pid), { mode: 0o600 });
  try {
    while (!claim(draft, file)) {
      const owner = lockOwner(file);
      // A lock that has just been released may be another's by now.
      if (owner !== null && !isAlive(owner)) rmSync(file, { force: true });
      await delay(100);
    }
  } finally {
    rmSync(draft, { force: true });
  }
  return () => rmSync(file, { force: true });
}

/** A link appears together with its content. */
function claim(draft, file) {
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  }
}

/** Null if the lock is already gone. */
function lockOwner(file) {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

try {
  await setup();
} catch (error) {
  console.error(`setup: ${error.message}`);
  process.exitCode = 1;
}
