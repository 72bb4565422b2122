import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { WfError } from '../../../src/errors.ts';
import { identify, isAlive } from '../../../src/processes/process-identity.ts';
import { claimDaemon } from '../../../src/store/files/control/daemon-claim.ts';

// Says that it is ready, waits for a word, then is the daemon of a directory so many times, for a moment each, and tells
// whether another was at the same time.
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
      // Fails where the file is there: then somebody else holds the directory too.
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
