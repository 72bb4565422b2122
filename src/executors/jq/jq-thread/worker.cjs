'use strict';

// The thread that runs jq: one filter over one input. Plain JavaScript, since Node starts threads from files, even when
// it runs the TypeScript around this file directly.

const { readFileSync, writeSync } = require('node:fs');
const { dirname, join } = require('node:path');
const { compileFunction } = require('node:vm');
const { parentPort, workerData } = require('node:worker_threads');

const PATH = require.resolve('jq-web');
/** A value nested a few thousand levels deep silently overruns jq's own 64 KiB. */
const STACK_BYTES = 8 * 1024 * 1024;
const LARGEST_MEMORY_BYTES = 1024 * 1024 * 1024;
const BUFFER_BYTES = 64 * 1024;
/** Longest error line passed to the waiting thread. */
const LONGEST_LINE = 1000;
/** Prefix of jq's error lines. */
const ERROR = /jq: (?:error: |error \(at |parse error: )/;
const LONGEST_MARK = 20;

run(workerData).then(
  (end) => parentPort.postMessage(end),
  (error) => parentPort.postMessage({ problem: problemOf(error) }),
);

/**
 * Returns `{ code, firstError, lastError }`: jq's exit code, and its first and last error lines, empty without an
 * error.
 */
async function run({ args, input, env, stdoutFd, stderrFd }) {
  const stdout = writer(stdoutFd);
  const stderr = writer(stderrFd);
  const errors = errorLines();
  const flush = () => {
    stdout.flush();
    stderr.flush();
  };
  try {
    const main = await load({
      args: ['jq', ...args],
      env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
      stdin: reader(input),
      stdout: stdout.write,
      stderr: (byte) => {
        errors.write(byte);
        stderr.write(byte);
      },
      flush,
    });
    const code = exitCodeOf(main);
    return { code, firstError: errors.first(), lastError: errors.last() };
  } finally {
    flush();
  }
}

/**
 * Sets up jq with its own arguments, environment and streams, and returns its `main`. The function exported by jq-web
 * cannot do that: it puts the arguments on the 64 KiB stack, loses NUL characters and, after an error, all earlier
 * results.
 */
async function load({ args, env, stdin, stdout, stderr, flush }) {
  const module = new WebAssembly.Module(readFileSync(join(dirname(PATH), 'jq.wasm')));
  let jq;
  let start;
  const instantiateWasm = (imports, done) => {
    const memory = () => jq.exports.memory.buffer;
    const placed = placeStrings({ env, args, memory });
    limitMemory(imports.env);
    Object.assign(imports.wasi_snapshot_preview1, placed.imports, flushing(imports.wasi_snapshot_preview1, flush));
    jq = new WebAssembly.Instance(module, imports);
    start = placed.start;
    done(jq, module);
    return jq.exports;
  };
  await createModule()({
    noInitialRun: true,
    preRun: [],
    stdin,
    stdout,
    stderr,
    print() {},
    printErr() {},
    instantiateWasm,
  });
  return () => {
    const { stackTop, argv } = start();
    jq.exports._emscripten_stack_restore(stackTop);
    return jq.exports.__main_argc_argv(args.length, argv);
  };
}

/**
 * The function with which jq-web creates its module. The file exports it first, then calls it and exports only the
 * result, which is too late.
 */
function createModule() {
  const done = new Error('jq-web exports nothing');
  let create;
  const module = {
    get exports() {
      return create;
    },
    set exports(value) {
      create = value;
      throw done;
    },
  };
  const names = ['module', 'exports', 'require', '__filename', '__dirname'];
  try {
    compileFunction(readFileSync(PATH, 'utf8'), names, { filename: PATH })(module, {}, require, PATH, dirname(PATH));
  } catch (error) {
    if (error !== done) throw error;
  }
  if (typeof create !== 'function') throw done;
  return create;
}

/**
 * Provides the environment of jq (WASI `environ_sizes_get` and `environ_get`). jq allocates it on its heap, so the
 * arguments and a larger stack are placed there too, after the environment.
 */
function placeStrings({ env, args, memory }) {
  const strings = [...env, ...args].map((text) => Buffer.from(`${text.replaceAll('\0', '')}\0`));
  const bytes = strings.reduce((sum, { length }) => sum + length, 0);
  let places = [];
  let end = 0;
  const imports = {
    environ_sizes_get(count, size) {
      const view = new DataView(memory());
      view.setUint32(count, env.length, true);
      view.setUint32(size, bytes + 4 * (args.length + 2) + STACK_BYTES, true);
      return 0;
    },
    environ_get(environ, room) {
      end = room;
      places = strings.map((string) => {
        new Uint8Array(memory()).set(string, end);
        end += string.length;
        return end - string.length;
      });
      writePointers(memory(), environ, places.slice(0, env.length));
      return 0;
    },
  };
  const start = () => {
    const argv = (end + 3) & ~3;
    writePointers(memory(), argv, [...places.slice(env.length), 0]);
    return { argv, stackTop: (argv + 4 * (args.length + 1) + STACK_BYTES) & ~15 };
  };
  return { imports, start };
}

function writePointers(memory, at, pointers) {
  const view = new DataView(memory);
  pointers.forEach((pointer, i) => {
    view.setUint32(at + 4 * i, pointer, true);
  });
}

function limitMemory(env) {
  const grow = env.emscripten_resize_heap;
  env.emscripten_resize_heap = (bytes) => (bytes >>> 0 > LARGEST_MEMORY_BYTES ? 0 : grow(bytes));
}

/** Passes output on at once: the thread may be ended at any time. */
function flushing({ fd_write }, flush) {
  return {
    fd_write(...args) {
      const result = fd_write(...args);
      flush();
      return result;
    },
  };
}

function exitCodeOf(main) {
  try {
    return main();
  } catch (error) {
    if (error?.name === 'ExitStatus') return error.status;
    throw error;
  }
}

/** Returns one byte per call, then null. */
function reader(text) {
  const bytes = Buffer.from(text);
  let at = 0;
  return () => (at < bytes.length ? bytes[at++] : null);
}

/** Accepts one byte per call. */
function writer(fd) {
  const buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  let used = 0;
  const flush = () => {
    for (let written = 0; written < used; ) written += writeSync(fd, buffer, written, used - written);
    used = 0;
  };
  const write = (byte) => {
    buffer[used++] = byte;
    if (used === BUFFER_BYTES) flush();
  };
  return { write, flush };
}

/**
 * Finds jq's error lines; output of the filter may precede them. The exit code is not enough: with several inputs it is
 * that of the last one.
 */
function errorLines() {
  const found = [];
  let line = '';
  const write = (byte) => {
    if (byte !== 10) {
      if (line.length === LONGEST_LINE && !ERROR.test(line)) line = line.slice(-LONGEST_MARK);
      if (line.length < LONGEST_LINE) line += String.fromCharCode(byte & 255);
      return;
    }
    const at = line.search(ERROR);
    if (at >= 0) found.splice(1, 1, Buffer.from(line.slice(at), 'latin1').toString());
    line = '';
  };
  return { write, first: () => found[0] ?? '', last: () => found.at(-1) ?? '' };
}

function problemOf(error) {
  if (error instanceof RangeError) return 'a value is nested too deeply, or a function calls itself without end';
  const message = error instanceof Error ? error.message : String(error);
  return /abort/i.test(message) ? 'it ran out of memory (1 GiB)' : message;
}
