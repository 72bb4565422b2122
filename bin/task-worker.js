'use strict';

// The thread in which `wf serve` reads large workflow files and searches, so that requests do not wait for them.

const os = require('node:os');
const { parentPort } = require('node:worker_threads');

// On Linux this affects only the calling thread: on a busy machine the thread that serves requests takes precedence.
try {
  os.setPriority(os.constants.priority.PRIORITY_BELOW_NORMAL);
} catch {
  // Only the priority among threads is lost.
}

require('../dist/wf.cjs').answerTasks(parentPort);
