import { createLogFollower } from '#store/files/logs/log-follower.ts';

// Follows a log and does nothing else.
const [path = ''] = process.argv.slice(2);
createLogFollower({ pathOf: () => path, streams: () => ['output'] }, { deliver: () => undefined }).follow('a', 1);
