import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { linkSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Makes a checkout ready to start and to test: installs what the lockfile names where `node_modules` differs from it, and
 * builds where a source is newer than the build. Needs Node and npm, and the network only to install. Says nothing when
 * there is nothing to do.
 */

const root = join(import.meta.dirname, '..');
const BUILD_INPUTS = ['src', 'scripts', 'package.json', 'package-lock.json'];
/** Made by the build itself. */
const GENERATED = join(root, 'src/language/schema/generated');

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

/** Whether `node_modules` holds what the lockfile names. What is optional depends on the platform. */
function isInstalled() {
  const wanted = readPackages(join(root, 'package-lock.json'));
  const present = readPackages(join(root, 'node_modules/.package-lock.json'));
  if (wanted === null) throw new Error('package-lock.json is missing');
  if (present === null) return false;
  return contains(present, wanted) && contains(wanted, present);
}

/** Whether one set has each package of the other in the same version, but for optional ones. */
function contains(these, those) {
  return Object.entries(those).every(([path, { version, optional }]) => {
    return these[path] === undefined ? optional === true : these[path].version === version;
  });
}

/** The packages of a lockfile by path, without the project itself; null when there is no such file. */
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
 * Not by `npm ci`, which refuses a lockfile that lacks the optional packages of other platforms, as npm writes it when the
 * registry lacks them.
 */
function install() {
  console.error('setup: installing the packages of package-lock.json');
  const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm'];
  const options = ['--no-save', '--include=dev', '--include=optional', '--no-audit', '--no-fund'];
  // No package needs its install script here, so none gets to run one.
  const args = [...npm.slice(1), 'install', '--ignore-scripts', ...options];
  const { status, error } = spawnSync(npm[0], args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (error !== undefined) throw new Error(`npm cannot be started: ${error.message}`);
  if (status !== 0)
    throw new Error('"npm install" failed, see above; it needs the package registry or a filled npm cache');
  if (!isInstalled()) throw new Error('what npm installed is not what package-lock.json names');
}

async function buildProject() {
  // Not at the top: esbuild may have been installed only just now.
  const { build } = await import('./build.mjs');
  await build();
}

function isBuilt() {
  const built = statSync(join(root, 'dist/wf.cjs'), { throwIfNoEntry: false });
  return built !== undefined && BUILD_INPUTS.every((input) => newestTime(join(root, input)) < built.mtimeMs);
}

/** When the file, or anything in the folder, was last changed, in ms; a folder changes when a file in it goes. */
function newestTime(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  if (path === GENERATED) return 0;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newestTime(join(path, name))));
}

/** One setup of this checkout at a time; one whose process is gone does not count. Resolves to what gives the lock back. */
async function takeLock() {
  const name = createHash('sha256').update(root).digest('hex').slice(0, 12);
  const file = join(tmpdir(), `wf-setup-${process.getuid?.() ?? 0}-${name}.lock`);
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, String(process.pid), { mode: 0o600 });
  try {
    while (!claim(draft, file)) {
      if (!isAlive(lockOwner(file))) rmSync(file, { force: true });
      await delay(100);
    }
  } finally {
    rmSync(draft, { force: true });
  }
  return () => rmSync(file, { force: true });
}

/** A link, since it appears together with what it holds. */
function claim(draft, file) {
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  }
}

/** Null when the lock is gone by now. */
function lockOwner(file) {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}

function isAlive(pid) {
  if (pid === null) return false;
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
