import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { startWf, type WfOptions } from '../support/wf.ts';

/** A daemon that listens. */
export type Served = { readonly url: string; readonly port: string };

/** Starts `wf serve` with options of a page, on a port of its own, until the test ends. Rejects when it does not listen. */
export async function serveAs(options: readonly string[], place: WfOptions): Promise<Served> {
  const running = startWf(['serve', ...options, '--port', '0'], place);
  onTestFinished(async () => {
    running.kill('SIGTERM');
    await running.ended;
  });
  await running.until('wf serves http');
  const [, url = '', port = ''] = /wf serves (\S+?:(\d+)\S*),/.exec(running.printed()) ?? [];
  return { url, port };
}

/** A directory until the test ends: it is removed after whatever the test has started since has ended. */
export function ownDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'wf-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true, maxRetries: 10 }));
  return directory;
}
