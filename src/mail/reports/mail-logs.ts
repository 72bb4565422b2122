import { closeSync, fstatSync, readSync } from 'node:fs';
import type { RunSummary, StepSummary } from '../../core/run/summary.ts';
import { openRegular } from '../../regular-file.ts';
import type { LogPaths } from '../../store/store.ts';
import type { Attachment } from '../send.ts';

/** Logs as they go with a mail, and a line for each that is not whole. */
export type AttachedLogs = { readonly attachments: readonly Attachment[]; readonly cut: readonly string[] };

const mebibyte = 1024 * 1024;
/** Mail servers mostly take 10 to 25 MB, and the encoding makes a third more of it. */
const mostBytes = { each: mebibyte, all: 10 * mebibyte };

/** The output of every step's last attempt, its end where it is too long; streams that are empty are left out. */
export function attachLogs(
  { steps, handlers }: Pick<RunSummary, 'steps' | 'handlers'>,
  logPaths: (step: string, attempt: number) => LogPaths,
): AttachedLogs {
  const attachments: Attachment[] = [];
  const cut: string[] = [];
  let left = mostBytes.all;
  for (const { filename, path } of [...steps, ...handlers].flatMap((step) => logFiles(step, logPaths))) {
    const { content, size } = readEnd(path, Math.min(mostBytes.each, left));
    left -= content.length;
    if (content.length > 0) attachments.push({ filename, content });
    if (content.length < size) cut.push(cutLine(filename, content.length, size));
  }
  return { attachments, cut };
}

function logFiles({ name, attempts }: StepSummary, logPaths: (step: string, attempt: number) => LogPaths) {
  if (attempts === 0) return [];
  const { stdoutPath, stderrPath } = logPaths(name, attempts);
  const base = name.replace(/[^\p{L}\p{N}._-]+/gu, '_');
  return [
    { filename: `${base}.stdout.log`, path: stdoutPath },
    { filename: `${base}.stderr.log`, path: stderrPath },
  ];
}

function cutLine(filename: string, kept: number, size: number): string {
  return kept === 0 ? `${filename} is left out (${size} bytes)` : `${filename} holds the last ${kept} of ${size} bytes`;
}

/** Nothing for a file that cannot be read: the mail is still worth sending. */
function readEnd(path: string, most: number): { readonly content: Buffer; readonly size: number } {
  let fd: number | null = null;
  try {
    fd = openRegular(path);
    const { size } = fstatSync(fd);
    const content = Buffer.alloc(Math.min(size, most));
    return { content: content.subarray(0, readSync(fd, content, 0, content.length, size - content.length)), size };
  } catch {
    return { content: Buffer.alloc(0), size: 0 };
  } finally {
    if (fd !== null) closeSync(fd);
  }
}
