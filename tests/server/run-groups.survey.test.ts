import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { RunSummary } from '#core/summary/summary.ts';
import { ownGroup } from '#processes/groups/run-group.ts';
import { eventually, journalOf, untilGone } from '../support/background-runs.ts';
import { act, type Daemon, type DaemonPlace, daemonUrl, withDaemons } from '../support/daemon.ts';
import { describeWith, isInstalled } from '../support/require.ts';
import { startWf } from '../support/wf.ts';

/** No other process of the machine sleeps for this long. */
const seconds = String(100_000 + Math.floor(Math.random() * 800_000));

/** Starts processes that leave their session, parent and environment, and creates a file when all of them run. */
const escaping = `env -i setsid sh -c "(sleep ${seconds} & echo > escaped); sleep ${seconds}" & until test -e escaped; do sleep 0.01; done`;

const files = {
  'ends.yaml': `steps:\n  - name: one\n    command: sh -c '${escaping}'\n`,
  'stays.yaml': `MaxCleanUpTimeSec: 1\nsteps:\n  - name: one\n    command: sh -c '${escaping}; sleep 300'\n`,
  'late.yaml': `timeoutSec: 2\nMaxCleanUpTimeSec: 1\nsteps:\n  - name: one\n    command: sh -c '${escaping}; sleep 300'\n`,
  'spares.yaml': `steps:\n  - name: one\n    leaveBackground: true\n    command: sh -c '${escaping}'\n`,
  'child.yaml': 'steps:\n  - name: one\n    run: ends\n  - name: two\n    command: test -e escaped\n    depends: one\n',
};

function canMakeGroups(): boolean {
  const probe = join(ownGroup() ?? '/nowhere', `wf-probe-${randomUUID()}`);
  try {
    mkdirSync(probe);
  } catch {
    return false;
  }
  const canKill = existsSync(join(probe, 'cgroup.kill'));
  rmdirSync(probe);
  return canKill;
}

/** The living processes of the escaped tree. */
function escaped(): readonly number[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1') === `sleep\0${seconds}\0` ? [Number(pid)] : [];
    } catch {
      return [];
    }
  });
}

function killEscaped(): void {
  for (const pid of escaped()) process.kill(pid, 'SIGKILL');
}

const groupsOf = (pid: number) => readdirSync(ownGroup() ?? '').filter((name) => name.includes(`-${pid}-`));
const isFinished = (place: DaemonPlace, runId: string) =>
  existsSync(join(place.runsDir, runId)) && journalOf(place, runId).some(({ type }) => type === 'run.finished');

type World = { readonly place: DaemonPlace; readonly daemon: Daemon; readonly runId: string; readonly pid: number };

/** A run of a daemon whose tree has escaped, and the process that carries it. */
function withEscape(workflow: string, use: (world: World) => Promise<void>): Promise<void> {
  onTestFinished(killEscaped);
  return withDaemons(files, async (place) => {
    const daemon = await place.serve();
    const runId = `run-${randomUUID()}`;
    expect((await daemon.act(workflow, { action: 'start', 'request-id': runId })).status).toBe(200);
    await eventually(() => existsSync(join(place.cwd, 'escaped')));
    const { owner } = await place.json<RunSummary>('status', runId);
    await use({ place, daemon, runId, pid: owner?.pid ?? 0 });
    await untilGone(owner?.pid ?? 0);
    await eventually(() => groupsOf(owner?.pid ?? 0).length === 0);
    await daemon.end('SIGTERM');
  });
}

describeWith('cgroups', canMakeGroups(), 'the control group of a run', () => {
  test.each(['ends', 'late', 'child'])('kills escaped processes at the end of "%s"', (workflow) =>
    withEscape(workflow, async ({ place, runId }) => {
      await eventually(() => isFinished(place, runId));
      expect(escaped()).toEqual([]);
      const { status, error } = await place.json<RunSummary>('status', runId);
      expect([status, error]).toEqual(workflow === 'late' ? ['failed', 'timed out after 2s'] : ['succeeded', null]);
    }),
  );

  test.each([[[]], [['--force']]])('kills escaped processes at a stop with %j', (options) =>
    withEscape('stays', async ({ place, runId, pid }) => {
      await eventually(() => escaped().length === 2);
      expect(groupsOf(pid)).toHaveLength(1);
      await place.wf('stop', runId, ...options);
      expect(escaped()).toEqual([]);
      expect((await place.json<RunSummary>('status', runId)).status).toBe('canceled');
    }),
  );

  test('is ended by the daemon when the process of the run was killed', () =>
    withEscape('stays', async ({ place, runId, pid }) => {
      process.kill(pid, 'SIGKILL');
      await eventually(() => isFinished(place, runId) && escaped().length === 0);
      expect((await place.json<RunSummary>('status', runId)).reason).toBe('lost');
    }));

  test('is ended by the next daemon when both were killed', () =>
    withEscape('stays', async ({ place, daemon, runId, pid }) => {
      await daemon.end('SIGKILL');
      process.kill(pid, 'SIGKILL');
      await untilGone(pid);
      // Both outlived the group's owner; the second one starts after the file is there.
      await eventually(() => escaped().length === 2);
      await place.serve();
      await eventually(() => isFinished(place, runId) && escaped().length === 0);
    }));

  test('spares processes of a step with leaveBackground', () =>
    withEscape('spares', async ({ place, runId, pid }) => {
      await eventually(() => isFinished(place, runId));
      await untilGone(pid);
      await eventually(() => escaped().length === 2);
    }));

  test.skipIf(process.getuid?.() !== 0 || !isInstalled('setpriv'))('needs only the rights of its owner', () =>
    withDaemons(files, async (place) => {
      onTestFinished(killEscaped);
      const delegated = join(ownGroup() ?? '', `wf-test-${randomUUID()}`);
      mkdirSync(delegated);
      const enter = `echo $$ > ${delegated}/cgroup.procs; exec setpriv --bounding-set -dac_override,-dac_read_search "$0" "$@"`;
      const through = ['sh', '-c', enter];
      const daemon = startWf(['serve', '--port', '0', '--dags', place.cwd], { ...place, through });
      onTestFinished(() => daemon.kill('SIGKILL'));
      const runId = `run-${randomUUID()}`;
      await act(await daemonUrl(daemon), 'ends', { action: 'start', 'request-id': runId });
      await eventually(() => isFinished(place, runId));
      expect(escaped()).toEqual([]);
      daemon.kill('SIGTERM');
      await daemon.ended;
      await eventually(() => /^populated 0$/m.test(readFileSync(join(delegated, 'cgroup.events'), 'utf8')));
      expect(readdirSync(delegated).filter((name) => name.startsWith('wf-'))).toEqual([]);
      rmdirSync(delegated);
    }),
  );

  test('exists only for runs of a daemon', () =>
    withDaemons(files, async (place) => {
      onTestFinished(killEscaped);
      const runId = `run-${randomUUID()}`;
      await place.wf('run', 'ends.yaml', '--run-id', runId);
      expect(escaped().length).toBeGreaterThan(0);
    }));
});
