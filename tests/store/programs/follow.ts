import { FileFollower } from '#store/files/logs/log-follower.ts';

// Follows a log and does nothing else.
const [path = ''] = process.argv.slice(2);
new FileFollower({ pathOf: () => path, streams: () => ['output'] }, { deliver: () => undefined }).follow('a', 1);
