import { constants } from 'node:os';
import { expect, test } from 'vitest';
import { endOf, failureOf } from '#processes/starter/starter-process.ts';

const { errno, signals } = constants;

test('an end has the exit code, or the signal by the name that Node uses', () => {
  expect([endOf(0), endOf(3 << 8), endOf(signals.SIGABRT), endOf(signals.SIGKILL)]).toEqual([
    { code: 0, signal: null },
    { code: 3, signal: null },
    { code: null, signal: 'SIGABRT' },
    { code: null, signal: 'SIGKILL' },
  ]);
});

test('a failure has the code that Node would report', () => {
  const codes = [errno.EAGAIN, errno.ENOENT, errno.ENOTSUP, 9999].map((number) => failureOf(number).error);

  expect(codes).toMatchObject([{ code: 'EAGAIN' }, { code: 'ENOENT' }, { code: 'ENOTSUP' }, { code: 'EIO' }]);
});
