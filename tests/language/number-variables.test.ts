import { expect, test } from 'vitest';
import type { Diagnostic } from '#language/diagnostic.ts';
import { loadWorkflow } from '#language/load.ts';
import { documentedSchema } from '#language/schema/schema-doc.ts';
import type { Schema } from '#language/schema/schema-type.ts';
import { workflowOf } from './load-text.ts';

/** The positions in a file of the parts of the schema with these names. */
const places: { readonly [definition: string]: (value: object) => object } = {
  step: (value) => inStep(value),
  container: (container) => inStep({ container: { image: 'a', ...container } }),
  notification: (notify) => ({ notify: { to: 'webhook', url: 'http://x', ...notify } }),
};

function inStep(value: object): object {
  return { steps: [{ name: 'a', command: 'GET http://x', ...value }] };
}

/** The keys that take a number, each with the file that gives it the variable `$N`. */
function numberKeys(): readonly (readonly [key: string, file: object])[] {
  const { $defs = {}, ...top } = documentedSchema;
  const parts = Object.entries($defs).flatMap(([name, schema]) => {
    const type = /^executor-(.*)/.exec(name)?.[1];
    const position = type === undefined ? places[name] : (config: object) => inStep({ executor: { type, config } });
    return valuesIn(schema, name).map(([key, value]) => [key, (position ?? String)(value) as object] as const);
  });
  return [...valuesIn(top, '').map(([key, value]) => [key, { ...inStep({}), ...value }] as const), ...parts];
}

function valuesIn(schema: Schema, path: string): readonly (readonly [key: string, value: object])[] {
  const isNumber = [schema.type ?? []].flat().some((type) => type === 'integer' || type === 'number');
  const own = isNumber ? [[path, '$N' as unknown as object] as const] : [];
  const items = schema.items === undefined || isNumber ? [] : valuesIn(schema.items, path);
  const keys = Object.entries(schema.properties ?? {}).filter(([, part]) => part['x-alias-of'] === undefined);
  const inner = keys.flatMap(([key, part]) =>
    valuesIn(part, path === '' ? key : `${path}.${key}`).map(([at, value]) => [at, { [key]: value }] as const),
  );
  return [...own, ...items.map(([at, value]) => [at, [value]] as const), ...inner];
}

function mistakeIn(file: object): Diagnostic | undefined {
  const { diagnostics } = loadWorkflow({ text: JSON.stringify(file), file: null, dir: '/' });
  return diagnostics.find(({ code }) => code === 'wrong-type' || code === 'wrong-value');
}

test('every number accepts a variable, or is rejected with the reason', () => {
  const keys = numberKeys();
  const refused = keys.flatMap(([key, file]) => {
    const mistake = mistakeIn(file);
    return mistake === undefined ? [] : [[key, `${mistake.message}. ${mistake.help}`] as const];
  });
  expect(keys.length - refused.length).toBeGreaterThan(45);
  expect(Object.fromEntries(refused)).toMatchInlineSnapshot(`
    {
      "MaxCleanUpTimeSec": ""MaxCleanUpTimeSec" must be a number, not a variable. It is also needed to end a run that has no variables, or lost its process. Write seconds, or a length such as 90s or 2d12h.",
      "artifacts.maxMiB": ""maxMiB" must be a whole number, not a variable. It limits all files that a run keeps. Write a number.",
      "artifacts.retentionDays": ""retentionDays" must be a whole number, not a variable. It is read after the run, to remove old files. Write a number.",
      "container.healthcheck.retries": ""retries" in step "a" must be a whole number, not a variable. The settings of a health check take no variables. Write a number.",
      "executor-docker.host.consoleSize": "entry 1 of "consoleSize" in step "a" must be a whole number, not a variable. The size of a terminal takes no variables. Write whole numbers.",
      "histRetentionDays": ""histRetentionDays" must be a whole number, not a variable. It is read after the run, to remove old runs. Write a number.",
      "histRetentionRuns": ""histRetentionRuns" must be a whole number, not a variable. It is read after the run, to remove old runs. Write a number.",
      "lockTimeoutSec": ""lockTimeoutSec" must be a number, not a variable. It limits a wait before the attempt or the run begins. Write seconds, or a length such as 90s or 2d12h.",
      "maxActiveRuns": ""maxActiveRuns" must be a whole number, not a variable. The daemon reads it before a run has variables. To limit the steps by a variable, write "maxActiveSteps".",
      "maxConcurrent": ""maxConcurrent" must be a whole number, not a variable. The daemon reads it before a run has variables. Write a number.",
      "restartWaitSec": ""restartWaitSec" must be a number, not a variable. It is read between two runs. Write seconds, or a length such as 90s or 2d12h.",
      "retryPolicy.backoff": ""backoff" must be true or false or a number, not a variable. The daemon reads it after the run, to retry it. Write true, or a number above 1.",
      "retryPolicy.intervalSec": ""intervalSec" must be a number, not a variable. The daemon reads it after the run, to retry it. Write seconds, or a length such as 90s or 2d12h.",
      "retryPolicy.limit": ""limit" must be a whole number, not a variable. The daemon reads it after the run, to retry it. Write a number.",
      "retryPolicy.maxIntervalSec": ""maxIntervalSec" must be a number, not a variable. The daemon reads it after the run, to retry it. Write seconds, or a length such as 90s or 2d12h.",
      "step.lockTimeoutSec": ""lockTimeoutSec" in step "a" must be a number, not "$N". Write seconds, or a length such as 90s or 2d12h.",
    }
  `);
});

test('a text around a variable is not a number', () => {
  const file = { timeoutSec: '$N and more', steps: [{ name: 'a', command: 'x' }] };
  expect(mistakeIn(file)?.message).toBe('"timeoutSec" must be a number, or one variable, not "$N and more"');
});

test('numbers from variables stay texts until they are used', () => {
  const workflow = workflowOf(`timeoutSec: $T
delaySec: "\${CFG.wait}"
maxActiveSteps: $N
maxActiveRuns: 3
maxOutputSize: 10
notify: {to: webhook, url: "http://x", lines: $L, timeoutSec: 2}
steps: [{name: a, command: x}]`);
  expect(workflow).toMatchObject({ timeoutMs: 0, delayMs: 0, maxActiveSteps: 0, maxConcurrent: 3, maxOutputBytes: 10 });
  expect(workflow.numbers).toEqual([
    { key: 'timeoutSec', text: '$T' },
    { key: 'delaySec', text: '${CFG.wait}' },
    { key: 'maxActiveSteps', text: '$N' },
  ]);
  expect(workflow.notify?.[0]).toMatchObject({
    lines: 5,
    timeoutMs: 2000,
    numbers: [{ key: 'notify.lines', text: '$L' }],
  });
});

test('an unset variable is reported where a number uses it', () => {
  const text = 'params: [LIMIT]\ntimeoutSec: $LIMITT\nsteps: [{name: a, command: x}]';
  const { diagnostics } = loadWorkflow({ text, file: null, dir: '/', environment: [] });
  expect(diagnostics.map(({ message, position }) => [message, position?.start.line])).toEqual([
    ['"timeoutSec": nothing sets "$LIMITT"', 2],
  ]);
});
