import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { identify, isAlive } from '#processes/process-identity.ts';
import { claimDaemon } from '#store/files/control/daemon-claim.ts';
import { WfError } from '#system/errors.ts';

// Prints `ready`, waits for input, then claims a directory repeatedly, for a moment each, and prints whether another process
// had claimed it at the same time.
const [directory = '', times = '1'] = process.argv.slice(2);
const mark = join(directory, '..', 'held');

process.stdin.once('data', () => {
  let refused = 0;
  try {
    for (let held = 0; held < Number(times); ) {
      const claim = claimOrNull();
      if (claim === null) {
        refused += 1;
        continue;
      }
      held += 1;
      // Fails if the file exists: then another process has claimed the directory too.
      closeSync(openSync(mark, 'wx'));
      rmSync(mark);
      claim.release();
    }
    writeSync(1, `alone ${refused}\n`);
  } catch (error) {
    writeSync(1, `${error}\n`);
  }
  process.exit();
});
writeSync(1, 'ready\n');

function claimOrNull() {
  try {
    return claimDaemon(directory, { identify, isAlive });
  } catch (error) {
    if (error instanceof WfError && error.code === 'conflict') return null;
    throw error;
  }
}
