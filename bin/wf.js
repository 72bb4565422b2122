#!/usr/bin/env node
'use strict';

// Starts the built program and does nothing else. Every Node, however old, must be able to parse this file, so that the
// version check can report: no syntax newer than ES2015.
//
// Not a shell script that starts `node -- "$0"`, although `--` would keep Node from taking a `--env-file` of `wf exec` for
// its own: dash and BusyBox drop variables such as `a.b` from the environment of the run, reset IFS and set PWD.
// `env -S` would do, but BusyBox lacks it.

const OLDEST_NODE = '20.19';

if (isOlder(process.versions.node, OLDEST_NODE)) {
  process.stderr.write(`wf needs Node.js ${OLDEST_NODE} or newer; this is ${process.versions.node}\n`);
  process.exitCode = 2;
} else if (process.argv.length === 3 && /^(--version|-V|version)$/.test(process.argv[2])) {
  print(`${require('../package.json').version}\n`);
} else {
  run();
}

function isOlder(version, than) {
  const have = version.split('.').map(Number);
  const want = than.split('.').map(Number);
  return have[0] < want[0] || (have[0] === want[0] && have[1] < want[1]);
}

/** Avoids `process.stdout`, which takes longer to set up than everything else here. */
function print(text) {
  try {
    require('node:fs').writeSync(1, text);
  } catch (error) {
    // Wait for a full pipe; ignore a closed one.
    if (error.code === 'EAGAIN') process.stdout.write(text);
    else if (error.code !== 'EPIPE') {
      process.stderr.write(`wf: cannot write to standard output: ${error.message}\n`);
      process.exitCode = 1;
    }
  }
}

function run() {
  // By default this signal opens Node's debugger, which every user of the machine can connect to.
  process.on('SIGUSR1', () => {});
  const path = require('node:path');
  const { compile } = require('./code-cache.js');
  const file = path.join(__dirname, '..', 'dist', 'wf.cjs');
  const program = { exports: {} };
  const folder = path.dirname(file);
  // Not `createRequire`: its module loads a part of Node that nothing else here needs.
  const requireFrom = (id) => require(id.startsWith('./') ? path.join(folder, id) : id);
  const start = compiled(compile, file);
  if (start === null) return;
  start(program.exports, requireFrom, program, file, folder);
  let hasEnded = false;
  // Exit at once: the system frees the memory faster than Node cleans up.
  process.once('beforeExit', () => {
    if (hasEnded) process.exit();
    process.stderr.write(
      'wf: this is a bug in wf, please report it: nothing is left to wait for, but the command has not ended\n',
    );
    process.exit(1);
  });
  program.exports.main(process.argv.slice(2)).then((code) => {
    hasEnded = true;
    // Not `exit`: pending output would be lost.
    process.exitCode = code;
  });
}

/** The module function of the program; null, after printing a message, if it is not built yet. */
function compiled(compile, file) {
  try {
    return compile(file);
  } catch (error) {
    if (error.code !== 'NOT_BUILT') throw error;
    process.stderr.write(`wf: ${error.message}\n`);
    process.exitCode = 2;
    return null;
  }
}
