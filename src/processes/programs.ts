/** Starting programs and threads. */

export { capture } from './capture.ts';
export { REPORT_FD as reportFd, startReporting } from './reporting-process.ts';
export { ReportingStarter } from './starter/reporting-starter.ts';
export { queueFlush, runProcess, shellArgv, shellWords, startThread } from './subprocess.ts';
