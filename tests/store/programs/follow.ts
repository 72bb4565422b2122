import { createLogFollower } from '../../../src/store/files/logs/log-follower.ts';

// Follows a log and has nothing else to do.
const [path = ''] = process.argv.slice(2);
createLogFollower(() => path, { deliver: () => undefined }).follow('a', 1);
