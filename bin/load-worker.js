'use strict';

// The thread in which `wf serve` reads large workflow files, so that its requests do not wait for them.

const { parentPort } = require('node:worker_threads');

require('../dist/wf.cjs').answerLoads(parentPort);
