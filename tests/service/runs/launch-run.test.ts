import { closeSync, openSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { startReporting } from '#processes/reporting-process.ts';
import { CarrierDied, launchRun } from '#service/runs/carrier.ts';
import { WfError } from '#system/errors.ts';

const env = { PATH: process.env['PATH'] ?? '' };

/** A carrier that writes `report` into its pipe. */
async function carrierReporting(report: string): Promise<unknown> {
  const carrier = launchRun('r1', {
    openProcessLog: () => ({ fd: openSync('/dev/null', 'w'), path: '/runs/r1/process.log' }),
    closeLog: closeSync,
    start: ({ fd }) => startReporting({ argv: ['sh', '-c', 'printf "$1" >&3', 'sh', report], cwd: '/', env }, fd),
  });
  const outcome = await carrier.owned.then(
    () => 'owned',
    (error: unknown) => error,
  );
  await carrier.ended;
  return outcome;
}

describe('the report of a carrier', () => {
  it('confirms that the carrier owns the run', async () => {
    expect(await carrierReporting('{"owned":true}\\n')).toBe('owned');
  });

  it('contains the reason if the carrier refuses the run', async () => {
    const error = await carrierReporting('{"owned":false,"code":"run-active","message":"process 7","help":null}\\n');
    expect(error).toEqual(new WfError('run-active', 'process 7'));
  });

  it('may be missing or incomplete when the carrier dies', async () => {
    for (const report of ['', '{"own']) expect(await carrierReporting(report)).toBeInstanceOf(CarrierDied);
  });

  it.each(['nonsense', 'null', '7', '{}', '{"owned":false}', '{"owned":true}\\n{"owned":true}'])(
    'is an error, which starts no second carrier, if it is %s',
    async (report) => {
      const error = await carrierReporting(`${report}\\n`);
      expect(error).toMatchObject({ code: 'storage', help: 'its output is in "/runs/r1/process.log"' });
      expect(String(error)).toContain('the process that should carry run r1 sent an invalid report: ');
      expect(error).not.toBeInstanceOf(CarrierDied);
    },
  );
});
