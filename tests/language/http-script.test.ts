import { expect, it } from 'vitest';
import type { JsonObject } from '#core/workflow.ts';
import { SettingProblem } from '#executors/http/header-fields.ts';
import { httpSettings } from '#executors/http/http-settings.ts';
import { loadWorkflow } from '#language/load.ts';

/** Why the executor refuses settings; null if it takes them. */
function refusal(settings: JsonObject): string | null {
  try {
    httpSettings(settings);
    return null;
  } catch (error) {
    if (error instanceof SettingProblem) return error.message;
    throw error;
  }
}

function mistakes(script: string): string[] {
  const step = { name: 'a', executor: 'http', command: 'GET https://example.com', script };
  const { diagnostics } = loadWorkflow({ text: JSON.stringify({ steps: [step] }), file: null, dir: '/' });
  return diagnostics.map(({ message }) => message);
}

it.each<JsonObject>([
  { timeout: 'abc' },
  { timeout: -1 },
  { timeout: true },
  { timeout: [1] },
  { timeout: '1.5' },
  { timeout: '' },
  { timeout: 0 },
  { silent: 'yes' },
  { json: 1 },
  { debug: {} },
  { skipTLSVerify: 'true' },
  { silent: '' },
  { headers: ['x'] },
  { headers: 'a: b' },
  { headers: { A: { b: 1 } } },
  { headers: { A: [['b']] } },
  { headers: { A: ['b', 1, null], B: true, C: null } },
  { query: 'a=1' },
  { query: 7 },
  { query: { a: [1, { b: 2 }] } },
  { query: {} },
  { body: { a: [1] } },
  { body: [1] },
  { body: false },
])('a check of %j says what the executor would say', (settings) => {
  const why = refusal(settings);
  expect(mistakes(JSON.stringify(settings))).toEqual(why === null ? [] : [`step "a": in "script", ${why}`]);
});

it('a value with a variable is left to the run', () => {
  const settings = { timeout: '$PATH', silent: '$PATH', headers: { A: '$PATH' }, query: '$PATH' };
  expect(mistakes(JSON.stringify(settings))).toEqual([]);
});
