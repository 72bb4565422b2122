'use strict';

// Preloaded into a program: when it ends, writes its peak of resident memory in KiB to the file WF_BENCH_MEMORY. From
// /proc, since `process.resourceUsage()` also counts what the parent held when it forked.

const { readFileSync, writeFileSync } = require('node:fs');

process.on('exit', () => {
  const [, peak] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'));
  writeFileSync(process.env.WF_BENCH_MEMORY, peak);
});
