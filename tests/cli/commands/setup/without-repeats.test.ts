import { expect, test } from 'vitest';
import { withoutRepeats } from '#cli/commands/setup/serve-command.ts';

test('the same text is written once a minute, and another one at once', () => {
  let now = 0;
  const written: string[] = [];
  const write = withoutRepeats(
    (text) => void written.push(`${now / 1000} ${text}`),
    () => now,
  );
  for (; now <= 120_000; now += 1000) {
    write('the disk is full');
    if (now === 5000) write('another error');
  }
  expect(written).toEqual(['0 the disk is full', '5 another error', '60 the disk is full', '120 the disk is full']);
});
