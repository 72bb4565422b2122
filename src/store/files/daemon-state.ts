import { dirname, join } from 'node:path';
import type { DaemonState } from '../store.ts';
import { claimDaemon, findOwnDaemon, keepDaemonToken } from './control/daemon-claim.ts';
import { claimOwn, judgeOwner } from './control/judge-owner.ts';
import type { Processes } from './control/owner.ts';
import { createTrialWrite, readDiskSpace } from './disk/disk-space.ts';
import { durableText, runIdsIn, sessionFile } from './disk/durable-text.ts';
import { createRunNotes } from './run-notes.ts';
import { createSuspensions } from './suspensions.ts';

/** The state of a daemon in files beside the directory of its runs. */
export function createDaemonState(runsDir: string, processes: Processes): DaemonState {
  const home = dirname(runsDir);
  const directory = join(home, 'daemon');
  return {
    claim: async () => {
      await judgeOwner(directory, processes);
      const { listen, ...claim } = claimDaemon(directory, processes);
      await listen();
      return claim;
    },
    claimStart: (workflow) => claimOwn(join(home, 'starts', shortHash(workflow)), processes),
    findOwn: (address, isAlive) => findOwnDaemon(directory, address, isAlive),
    keepToken: () => keepDaemonToken(directory),
    sessions: sessionFile(directory),
    suspensions: createSuspensions(join(home, 'suspended')),
    schedule: durableText(join(home, 'schedule.json')),
    recentRuns: durableText(join(directory, 'recent-runs')),
    watched: runIdsIn(join(directory, 'watched.json')),
    retries: runIdsIn(join(directory, 'retries.json')),
    forwarding: createRunNotes(join(directory, 'forwarding')),
    space: () => readDiskSpace(runsDir),
    refusal: createTrialWrite(directory, Date.now),
  };
}

/** Loaded here: only some commands need a hash. */
function shortHash(text: string): string {
  return process.getBuiltinModule('node:crypto').createHash('sha256').update(text).digest('hex').slice(0, 16);
}
