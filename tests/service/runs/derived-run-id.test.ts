import { expect, test } from 'vitest';
import { derivedRunId } from '#service/runs/derived-run-id.ts';
import { isRunId, timeOfId } from '#store/files/run-directory.ts';

const moment = Date.UTC(2026, 0, 1);

test('a scheduled run has one id for its workflow and moment', () => {
  const ids = [derivedRunId('/a', moment), derivedRunId('/b', moment), derivedRunId('/a', moment + 60_000)];
  expect(new Set(ids).size).toBe(3);
  expect(derivedRunId('/a', moment)).toBe(ids[0]);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('the id contains no time, so that a late run is sorted by its creation', () => {
  const id = derivedRunId('/a', moment);
  expect({ isId: isRunId(id), time: timeOfId(id) }).toEqual({ isId: true, time: null });
});
