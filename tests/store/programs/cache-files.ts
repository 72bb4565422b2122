import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { keepResult, restoreResult } from '../cached-result.ts';

// Keeps or restores a result, and dies before the system call with this number. Prints the number of calls if it does not.
const [action, root = '', cwd = '', at = '0'] = process.argv.slice(2);
let count = 0;
const names = [
  'mkdirSync',
  'mkdtempSync',
  'openSync',
  'writeSync',
  'writeFileSync',
  'closeSync',
  'fsyncSync',
  'linkSync',
  'symlinkSync',
  'renameSync',
  'unlinkSync',
  'rmSync',
  'utimesSync',
  'fchmodSync',
] as const;
for (const name of names) {
  const call = fs[name] as (...args: unknown[]) => unknown;
  const counted = (...args: unknown[]) => {
    count += 1;
    if (count === Number(at)) process.kill(process.pid, 'SIGKILL');
    return call(...args);
  };
  Object.assign(fs, { [name]: counted });
}
syncBuiltinESMExports();
if (action === 'keep') await keepResult(root, cwd);
else await restoreResult(root, cwd);
const total = count;
console.log(total);
