'use strict';

// Compiling the bundle takes V8 longer than running most commands, so the compiled code of the first run is cached in
// the user's cache directory. V8 runs that file unchecked, and a damaged one crashes the process: read it only if no
// other user can have written it and its checksum matches, and treat any doubt as a cache miss.

const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');

const WRITABLE_BY_OTHERS = 0o022;
const KEPT_FILES = 12;
/** The age of a draft whose writer must have died, in milliseconds. */
const ABANDONED_AFTER = 60_000;
/** The function with which Node wraps a CommonJS module. */
const HEAD = '(function (exports, require, module, __filename, __dirname) {';
const TAIL = '\n})';
/** Exit code of an invalid command line, which is not worth caching. */
const EXIT_UNUSABLE = 2;

/**
 * Compiles the CommonJS file and returns its module function. Throws if the file cannot be read. Newly compiled code is
 * cached when the process ends.
 */
exports.compile = function compile(file) {
  const source = readBundle(file);
  if (isOff()) return new vm.Script(source.text, { filename: file }).runInThisContext();
  const [cacheFile, ...similar] = locate(source.stat);
  const own = cacheFile && read(cacheFile);
  const cachedData = similar.reduce((found, other) => found || read(other), own);
  const script = new vm.Script(source.text, {
    filename: file,
    cachedData,
  });
  const isNew = own === undefined || script.cachedDataRejected;
  if (cacheFile !== undefined && isNew && !leavesNoTrace()) {
    const before = identify(cacheFile);
    process.once('exit', (code) => {
      if (code !== EXIT_UNUSABLE && identify(cacheFile) === before) write(cacheFile, script);
    });
  }
  return script.runInThisContext();
};

/** As in src/fast/accelerators.ts. */
function isOff() {
  const without = process.env.WF_WITHOUT;
  return without !== undefined && (without === 'all' || without.split(',').includes('code-cache'));
}

/** The configuration file may say so too; but a user who has one has a home directory to write to. */
function leavesNoTrace() {
  return process.argv.includes('--no-history') || /^(false|no|off|0)$/i.test(process.env.WF_HISTORY);
}

/**
 * The bundle as the text of a function. Assembled as bytes, since appending to a text of this size would copy it. The
 * build guarantees ASCII, which V8 stores in half the space.
 */
function readBundle(file) {
  let fd;
  try {
    fd = fs.openSync(file, 'r');
    const stat = fs.fstatSync(fd);
    const bytes = Buffer.allocUnsafeSlow(HEAD.length + stat.size + TAIL.length);
    bytes.write(HEAD, 0, 'latin1');
    const length = fs.readSync(fd, bytes, HEAD.length, stat.size, 0);
    if (length !== stat.size) throw new Error(`"${file}" cannot be read: got ${length} of ${stat.size} bytes`);
    bytes.write(TAIL, HEAD.length + length, 'latin1');
    return { text: bytes.toString('latin1'), stat };
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    const missing = new Error(`"${file}" is missing; in a clone of the repository, run "npm install" to build it`);
    missing.code = 'NOT_BUILT';
    throw missing;
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
}

/**
 * Paths of the cached code for this bundle and Node version, the best first; none if there is no such directory. V8
 * compares only the length of the text, and npm gives every unpacked file the same modification time: hence version and
 * ctime. Each command has its own file, since the cache holds only functions that were called: after `wf help`, every
 * run would have to compile for 30 ms. So has a command with options, which calls more (`src/cli/main.ts`); until that
 * exists, the one without saves most.
 */
function locate(stat) {
  const folder = cacheFolder(process.env);
  if (folder === null || process.getuid === undefined) return [];
  // Read with `fs`: `require` takes longer to find and store it.
  const { version } = JSON.parse(fs.readFileSync(path.join(__dirname, '..', 'package.json'), 'utf8'));
  const words = process.argv.slice(2);
  const command = /^[a-z]{1,20}$/.test(words[0]) ? words[0] : 'wf';
  const key = [version, process.version, process.arch, stat.size, stat.ctimeMs].join('-');
  const files = hasOptions(words) ? [`${command}+-${key}`, `${command}-${key}`] : [`${command}-${key}`];
  return files.map((name) => path.join(folder, `${name}.code`));
}

function hasOptions(words) {
  const end = words.indexOf('--');
  return words.some((word, at) => word.startsWith('-') && (end === -1 || at < end));
}

function cacheFolder(env) {
  if (env.WF_HOME) return path.resolve(env.WF_HOME, 'cache');
  if (env.XDG_CACHE_HOME && path.isAbsolute(env.XDG_CACHE_HOME)) return path.join(env.XDG_CACHE_HOME, 'wf');
  return env.HOME && path.isAbsolute(env.HOME) ? path.join(env.HOME, '.cache', 'wf') : null;
}

/** The compiled code in the file; undefined if there is none that can be trusted. */
function read(file) {
  let fd;
  try {
    if (!isOurs(fs.lstatSync(path.dirname(file)))) return undefined;
    fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK);
    const stat = fs.fstatSync(fd);
    if (!stat.isFile() || !isOurs(stat) || stat.size <= 4) return undefined;
    const bytes = Buffer.allocUnsafeSlow(stat.size);
    if (fs.readSync(fd, bytes) !== stat.size) return undefined;
    const code = bytes.subarray(0, -4);
    return checksum(code) === bytes.readUInt32LE(code.length) ? code : undefined;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
}

/** Distinguishes a file from one that replaced it; null if there is none. */
function identify(file) {
  try {
    const { ino, mtimeMs } = fs.lstatSync(file);
    return `${ino} ${mtimeMs}`;
  } catch {
    return null;
  }
}

/**
 * Writes atomically. Failures are ignored: the next run compiles again. Of processes that end together only one writes,
 * since serializing the code takes each of them 30 ms, and flushing it the disk.
 */
function write(file, script) {
  const draft = `${file}.new`;
  if (!claim(draft)) return;
  try {
    const code = script.createCachedData();
    const trailer = Buffer.alloc(4);
    trailer.writeUInt32LE(checksum(code));
    fs.writeFileSync(draft, Buffer.concat([code, trailer]), { flush: true });
    fs.renameSync(draft, file);
    removeOldest(path.dirname(file));
  } catch {
    remove(draft);
  }
}

/** Creates the draft; false if it cannot be created, or if another process is writing it. */
function claim(draft) {
  const folder = path.dirname(draft);
  try {
    makeFolder(path.dirname(folder));
    makeFolder(folder);
    if (!isOurs(fs.lstatSync(folder))) return false;
    fs.closeSync(fs.openSync(draft, 'wx', 0o600));
    fs.chmodSync(draft, 0o600);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') removeAbandoned(draft);
    return false;
  }
}

function removeAbandoned(draft) {
  const stat = fs.lstatSync(draft, { throwIfNoEntry: false });
  if (stat !== undefined && Date.now() - stat.mtimeMs > ABANDONED_AFTER) remove(draft);
}

/** Another process may have removed the file, or taken away the permission. */
function remove(file) {
  try {
    fs.rmSync(file, { force: true });
  } catch {
    // The next run tries again.
  }
}

/** One level only: never create a missing home directory. */
function makeFolder(folder) {
  if (fs.existsSync(folder)) return;
  fs.mkdirSync(folder, { mode: 0o700 });
  fs.chmodSync(folder, 0o700);
}

function isOurs(stat) {
  return stat.uid === process.getuid() && (stat.mode & WRITABLE_BY_OTHERS) === 0;
}

/** Other versions of Node and `wf` leave files of their own; keep a few. */
function removeOldest(folder) {
  const files = fs
    .readdirSync(folder)
    .filter((name) => /\.code(\.new|\.\d+)?$/.test(name))
    .map((name) => ({ file: path.join(folder, name), at: fs.statSync(path.join(folder, name)).mtimeMs }));
  for (const { file } of files.sort((a, b) => b.at - a.at).slice(KEPT_FILES)) fs.rmSync(file, { force: true });
}

/**
 * Samples one word per 256 bytes: a crash leaves missing or zeroed sectors, which are larger, and summing every byte
 * takes longer than reading the file.
 */
function checksum(bytes) {
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
  let sum = bytes.length;
  for (let at = 0; at < words.length; at += 64) sum = (Math.imul(sum, 31) + words[at]) | 0;
  return sum >>> 0;
}
