'use strict';

// Preloaded into a program (`--require`): when it ends, appends to the file WF_TEST_RECORD one line of JSON that tells
// which files it loaded, and how each script with a code cache fared.

const fs = require('node:fs');
const vm = require('node:vm');

const scripts = [];

vm.Script = class extends vm.Script {
  constructor(code, options) {
    super(code, options);
    const cache = options.cachedData === undefined ? 'none' : this.cachedDataRejected ? 'rejected' : 'used';
    scripts.push({ file: options.filename, cache });
  }
};

process.on('exit', () => {
  const files = [...Object.keys(require.cache), ...scripts.map(({ file }) => file)].filter(
    (file) => file !== __filename,
  );
  fs.appendFileSync(process.env.WF_TEST_RECORD, `${JSON.stringify({ files, scripts })}\n`);
});
