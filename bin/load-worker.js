'use strict';

// The thread in which `wf serve` reads large workflow files, so that its requests do not wait for them.

const os = require('node:os');
const { parentPort } = require('node:worker_threads');

// Linux applies this to the calling thread alone: where processors are busy, the thread that answers requests goes first.
try {
  os.setPriority(os.constants.priority.PRIORITY_BELOW_NORMAL);
} catch {
  // Only the order among threads is lost.
}

require('../dist/wf.cjs').answerLoads(parentPort);
