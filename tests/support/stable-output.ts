import type { Ended } from './wf.ts';

/**
 * What a run has printed, without what differs from run to run: times, durations, ids, and places outside the folder in
 * which it ran. Standard error and the exit code stand at the end.
 */
export function stableOutput(
  { code, stdout, stderr }: Ended,
  { home, folder }: { home: string; folder: string },
): string {
  const text = stderr === '' ? stdout : `${stdout}--- standard error\n${stderr}`;
  const same = text
    .replaceAll(home, '<home>')
    .replaceAll(folder, '<folder>')
    .replace(/(?:\.\.\/)+<home>|(?:\.\.\/)+tmp\/wf-test-\w+/g, '<home>')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<run id>')
    .replace(/^\d\d:\d\d:\d\d/gm, '00:00:00')
    .replace(/(?<= in | after | (?:OK|READY) +)\d+(?:\.\d+)?s\b/g, '0.0s')
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}\b/g, '<id>');
  return `${same}--- exit code ${code}\n`;
}
