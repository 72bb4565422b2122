import { closeSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { RunEvent } from '#core/run/run.ts';
import type { AttemptLog } from '#executors/executor.ts';
import { identify, isAlive } from '#processes/process-identity.ts';
import { createFileStore, type FileStore, type FileStoreOptions } from '#store/files/file-store.ts';
import type { LogForm } from '#store/logs.ts';
import type { Snapshot } from '#store/store.ts';
import { WfError } from '#system/errors.ts';
import { step, workflow } from '../support/workflow.ts';

/** An empty directory for the duration of the test. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'wf-store-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A store in a directory that does not exist yet. */
export function fileStore(options: Partial<FileStoreOptions> = {}): { store: FileStore; runsDir: string } {
  const runsDir = options.runsDir ?? join(temporaryDirectory(), 'state', 'runs');
  return { store: createFileStore({ identify, isAlive, ...options, runsDir }), runsDir };
}

/** The snapshot of a run with two steps. */
export function snapshot(runId: string): Snapshot {
  return {
    runId,
    workflow: workflow({ name: 'nightly etl', steps: [step('extract rows'), step('load')] }),
    sources: [{ path: '/etl.yaml', text: 'steps: [] # été\n' }],
  };
}

/** `count` different events. */
export function events(count: number, from = 1): readonly RunEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    type: 'step.ready' as const,
    at: 1_700_000_000_000 + from + index,
    step: `Schritt "${from + index}" – ✓`,
  }));
}

/** The events as a store returns them, numbered from `from`. */
export function stored(told: readonly RunEvent[], from = 1): readonly object[] {
  return told.map((event, index) => ({ ...event, seq: from + index }));
}

/** The `WfError` that the call throws. */
export function refusal(call: () => unknown): { code: string; message: string } {
  try {
    call();
  } catch (error) {
    if (error instanceof WfError) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error('nothing was thrown');
}

/** Closes the log of an attempt like the engine after the attempt. */
export function closeLog({ stdoutFd, stderrFd }: AttemptLog): void {
  closeSync(stdoutFd);
  if (stderrFd !== stdoutFd) closeSync(stderrFd);
}

/** An attempt with one log. */
export const oneLog: LogForm = { isSeparate: false, kept: [] };

/** Changes a file's bytes. */
export function rewrite(path: string, change: (bytes: Buffer) => Uint8Array): void {
  writeFileSync(path, change(readFileSync(path)));
}
