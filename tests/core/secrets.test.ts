import { Buffer } from 'node:buffer';
import { describe, expect, test } from 'vitest';
import { buildGraph } from '#core/graph.ts';
import { evolve } from '#core/run/evolve.ts';
import { planRetry } from '#core/run/retry.ts';
import { initialRun } from '#core/run/run-state.ts';
import { maskEvent, maskWorkflow } from '#core/secrets/mask.ts';
import { Secrets } from '#core/secrets/secrets.ts';
import { DrivenRun } from '../support/driven-run.ts';
import fc from '../support/fast-check.ts';
import { failure, success } from '../support/outcome.ts';
import { step, workflow } from '../support/workflow.ts';

function secretsOf(...values: string[]): Secrets {
  const secrets = new Secrets();
  for (const value of values) secrets.add(value);
  return secrets;
}

/** The masked output of a text that arrives in these chunks. */
function streamed(secrets: Secrets, chunks: readonly Uint8Array[]): string {
  const stream = secrets.stream();
  return Buffer.concat([...chunks.map((chunk) => Buffer.from(stream.push(chunk))), stream.flush()]).toString();
}

function cut(bytes: Buffer, offsets: readonly number[]): readonly Buffer[] {
  const ends = [...offsets.map((offset) => offset % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end));
}

const secret = 'p4ss/w+rd "x" é&\'';

describe('a text', () => {
  test.each([
    ['unchanged', secret],
    ['base64', Buffer.from(secret).toString('base64')],
    ['base64url', Buffer.from(secret).toString('base64url')],
    ['URL-encoded', encodeURIComponent(secret)],
    ['URL-encoded in lower case', encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase())],
    ['a form', new URLSearchParams([['', secret]]).toString().slice(1)],
    ['JSON', JSON.stringify(secret).slice(1, -1)],
    ['JSON in ASCII', JSON.stringify(secret).slice(1, -1).replace('é', '\\u00e9')],
    ['JSON in JSON', JSON.stringify(JSON.stringify(secret).slice(1, -1)).slice(1, -1)],
    ['set -x of a shell', secret.replaceAll("'", "'\\''")],
  ])('does not contain the secret: %s', (_, text) => {
    expect(secretsOf(secret).mask(`a ${text} b`)).toBe('a *** b');
  });

  test.each([0, 1, 2, 3, 4, 5])('does not contain the secret: base64 with %i bytes before it', (length) => {
    const encoded = Buffer.from(`${'u'.repeat(length)}${secret}${'v'.repeat(5)}`).toString('base64');
    // Characters that also encode bits of a neighbouring byte stay: one on each side.
    const [before, after] = [Math.ceil((length * 4) / 3), Math.ceil((5 * 4) / 3)];
    const masked = secretsOf(secret).mask(encoded);
    expect(masked).toMatch(new RegExp(`^[^*]{0,${before}}\\*\\*\\*[^*]{0,${after + 3}}$`));
  });

  test('does not contain a line of a secret with several', () => {
    const secrets = secretsOf('-----BEGIN-----\n  abcdefgh\r\nxyz\n-----END-----\n');
    expect(secrets.mask('abcdefgh, -----END-----, xyz')).toBe('***, ***, xyz');
  });

  test('does not contain a long secret in wrapped base64', () => {
    const long = Array.from({ length: 40 }, (_, i) => `part${i}`).join('-');
    const secrets = secretsOf(long);
    for (const width of [64, 76]) {
      const encoded = Buffer.from(`${long}\n`).toString('base64');
      const lines = encoded.match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
      expect(lines.length).toBeGreaterThan(2);
      expect(secrets.mask(lines.join('\n')).replace(/[*\n]/g, '')).toBe('');
    }
  });

  test('keeps everything else, byte for byte', () => {
    const text = 'ordinary text \ud800 with p4ss and w+rd';
    expect(secretsOf(secret).mask(text)).toBe(text);
    expect(new Secrets().mask(text)).toBe(text);
  });

  test('shows one mask for secrets that overlap', () => {
    expect(secretsOf('abcdef', 'defghi', 'cd-efg').mask('-abcdefghi-abcdef-abcdefabcdef')).toBe('-***-***-******');
  });

  test('a value too short to be masked is reported; an empty value is not a secret', () => {
    const secrets = new Secrets();
    expect([secrets.add('abc'), secrets.add(''), secrets.add('abc\nde'), secrets.isEmpty]).toEqual([
      false,
      true,
      false,
      true,
    ]);
    expect([secrets.add('abcd'), secrets.isEmpty]).toEqual([true, false]);
  });
});

describe('a stream', () => {
  const values = fc.array(fc.stringMatching(/^[ab]{4,7}$/), { minLength: 1, maxLength: 5 });
  const texts = fc.stringMatching(/^[ab\n]{0,60}$/);

  test('is masked in the same way however it is cut', () => {
    fc.assert(
      fc.property(values, texts, fc.array(fc.nat()), (secretValues, text, offsets) => {
        const secrets = secretsOf(...secretValues);
        expect(streamed(secrets, cut(Buffer.from(text), offsets))).toBe(secrets.mask(text));
      }),
      { numRuns: 1000 },
    );
  });

  test('writes everything except the secrets', () => {
    fc.assert(
      fc.property(values, texts, fc.array(fc.nat()), (secretValues, text, offsets) => {
        const expected = hideByHand(text, secretValues);
        expect(streamed(secretsOf(...secretValues), cut(Buffer.from(text), offsets))).toBe(expected);
      }),
      { numRuns: 1000 },
    );
  });

  test('masks a secret that is cut anywhere', () => {
    const bytes = Buffer.from(`before ${secret} after`);
    for (let i = 0; i <= bytes.length; i++) {
      for (let j = i; j <= bytes.length; j++) {
        const chunks = [bytes.subarray(0, i), bytes.subarray(i, j), bytes.subarray(j)];
        expect(streamed(secretsOf(secret), chunks)).toBe('before *** after');
      }
    }
  });

  test('holds back only the possible beginning of a secret', () => {
    const stream = secretsOf('hunter2').stream();
    const given = (text: string) => Buffer.from(stream.push(Buffer.from(text))).toString();
    expect([given('Name? '), given('my h'), given('unt'), given('hu'), given('nter2!')]).toEqual([
      'Name? ',
      'my ',
      '',
      'hunt',
      '***!',
    ]);
  });

  test('masks a secret that is added during the stream', () => {
    const secrets = secretsOf('first-secret');
    const stream = secrets.stream();
    const first = Buffer.from(stream.push(Buffer.from('second-secret first-sec'))).toString();
    secrets.add('second-secret');
    secrets.add('first-sector');
    const rest = [stream.push(Buffer.from('tor second-sec')), stream.push(Buffer.from('ret')), stream.flush()];
    expect([first, Buffer.concat(rest).toString()]).toEqual(['second-secret ', '*** ***']);
  });
});

/** Masks every byte of every occurrence, one by one; occurrences that touch without overlapping get separate masks. */
function hideByHand(text: string, values: readonly string[]): string {
  const secrets = secretsOf(...values);
  const hidden = new Set<number>();
  const joined = new Set<number>();
  for (let length = 4; length <= 7; length++) {
    for (let at = 0; at + length <= text.length; at++) {
      const part = text.slice(at, at + length);
      if (!values.includes(part)) continue;
      for (let i = at; i < at + length; i++) hidden.add(i);
      for (let i = at + 1; i < at + length; i++) joined.add(i);
    }
  }
  expect(secrets.isEmpty).toBe(false);
  return [...text].map((c, i) => (hidden.has(i) ? (joined.has(i) ? '' : '***') : c)).join('');
}

describe('events', () => {
  const hidden = { secrets: secretsOf('hunter2'), names: new Set(['TOKEN', 'PIN']) };

  test('mark parameters whose values were masked', () => {
    const params = [
      { name: 'PIN', value: '1' },
      { name: 'URL', value: 'https://x:hunter2@y' },
      { name: null, value: 'plain' },
    ];
    expect(maskEvent({ type: 'run.prepared', at: 1, params }, hidden)).toEqual({
      type: 'run.prepared',
      at: 1,
      params: [
        { name: 'PIN', value: '***', masked: true },
        { name: 'URL', value: 'https://x:***@y', masked: true },
        { name: null, value: 'plain' },
      ],
    });
  });

  test('mark outputs whose values were masked', () => {
    const run = DrivenRun.started({ steps: [step('a')] });
    const [finished] = run.end('a', success({ TOKEN: 't', LINE: 'is hunter2', OTHER: 'o', EMPTY: '' }));
    expect(finished && maskEvent(finished, hidden)).toMatchObject({
      outputs: { TOKEN: '***', LINE: 'is ***', OTHER: 'o', EMPTY: '' },
      masked: ['TOKEN', 'LINE'],
    });
  });

  test('mask secrets in their messages', () => {
    const run = DrivenRun.started({ steps: [step('a', { retry: { limit: 1, intervalMs: 5 } })] });
    const [waiting] = run.end('a', failure({ message: 'no hunter2', outputs: { TOKEN: 'x' } }));
    expect(waiting && maskEvent(waiting, hidden)).toMatchObject({
      outcome: { message: 'no ***', outputs: { TOKEN: '***' } },
    });
    const warned = { type: 'run.warned', at: 1, step: null, message: 'hunter2' } as const;
    expect(maskEvent(warned, hidden)).toEqual({ ...warned, message: '***' });
  });

  test('a workflow keeps its names', () => {
    const secrets = secretsOf('hunter2');
    const made = workflow({
      name: 'hunter2',
      env: [{ name: 'hunter2', value: 'hunter2' }],
      steps: [
        step('hunter2', { command: 'echo hunter2', executor: { type: 'http', config: { name: 'hunter2' } } }),
        step('b', { depends: ['hunter2'] }),
      ],
    });
    const masked = maskWorkflow(made, secrets);
    expect(masked).toEqual({
      ...made,
      env: [{ name: 'hunter2', value: '***' }],
      steps: [
        step('hunter2', { command: 'echo ***', executor: { type: 'http', config: { name: '***' } } }),
        step('b', { depends: ['hunter2'] }),
      ],
    });
  });
});

describe('a retry', () => {
  const steps = [step('login'), step('migrate', { depends: ['login'] }), step('deploy', { depends: ['migrate'] })];
  const hidden = { secrets: new Secrets(), names: new Set(['TOKEN']) };

  /** The run as stored in its journal: `login` returned a secret, `deploy` failed. */
  function stored() {
    const run = DrivenRun.started({ steps });
    run.end('login', success({ TOKEN: 'abc', USER: 'me' }));
    run.succeed('migrate');
    run.fail('deploy');
    const made = workflow({ steps });
    return run.events.reduce(
      (state, event) => evolve(state, maskEvent(event, hidden)),
      initialRun(buildGraph(made), made),
    );
  }

  test('runs a step again whose secret output was not stored, but no other step that succeeded', () => {
    const plan = planRetry(stored(), { steps: 'unfinished' });
    expect(plan).toEqual({
      restored: [{ step: 'migrate', status: 'succeeded', outputs: {} }],
      rerun: ['login', 'deploy'],
    });
    const next = new DrivenRun({ steps });
    next.start(plan.restored);
    expect(next.statuses).toEqual({ login: 'scheduled', migrate: 'succeeded', deploy: 'pending' });

    next.succeed('login');
    expect(next.statuses).toEqual({ login: 'succeeded', migrate: 'succeeded', deploy: 'scheduled' });
  });

  test('masks secrets in how a step had ended', () => {
    const before = { runId: 'first', reason: 'error', message: 'no abcdef', exitCode: 3, signal: null } as const;
    const event = { type: 'step.restored', at: 1, step: 'deploy', status: 'failed', outputs: {}, before } as const;
    const secrets = new Secrets();
    secrets.add('abcdef');
    expect(maskEvent(event, { ...hidden, secrets })).toEqual({ ...event, before: { ...before, message: 'no ***' } });
  });

  test('of one step alone reports the values it will miss', () => {
    expect(planRetry(stored(), { only: 'deploy' })).toEqual({
      restored: [
        { step: 'login', status: 'succeeded', outputs: { USER: 'me' } },
        { step: 'migrate', status: 'succeeded', outputs: {} },
      ],
      rerun: ['deploy'],
      missing: ['TOKEN'],
    });
  });
});
