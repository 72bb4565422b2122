import type { ApprovalAnswer, Outcome, Restored, SettledStatus } from '#core/run/run.ts';
import { type FanOut, type HandlerKind, handlerName, type Step, type Workflow } from '#core/workflow.ts';
import fc from '../support/fast-check.ts';
import { step, workflow } from '../support/workflow.ts';

/** How the attempts at one step or handler end, in order; see `outcomeKind` for later attempts. */
export type Script = readonly Outcome['status'][];

/** A cancel after a number of inputs. */
export type PlannedCancel = {
  readonly after: number;
  readonly reason: 'stop' | 'timeout' | 'storage';
  readonly force: boolean;
};

/** A workflow, and everything that happens to a run of it. */
export type Case = {
  readonly workflow: Workflow;
  readonly scripts: { readonly [name: string]: Script };
  /** What the policies of a step or handler find after its attempts, in order; see `factOf` for later attempts. */
  readonly facts: { readonly [name: string]: readonly boolean[] };
  /** Services that may end by themselves after they were ready. */
  readonly dying: ReadonlySet<string>;
  /** The keys of the items of each fan-out. */
  readonly items: { readonly [name: string]: readonly string[] };
  /** How a person decides about each step that asks. */
  readonly answers: { readonly [name: string]: ApprovalAnswer };
  readonly restored: readonly Restored[];
  readonly cancels: readonly PlannedCancel[];
  /** Each number selects the next of the possible inputs. */
  readonly choices: readonly number[];
};

/**
 * How an attempt ends by the script. Attempts beyond the script succeed; those of a repeating step fail, so that it
 * ends.
 */
export function outcomeKind({ scripts }: Case, node: Step, attempt: number): Outcome['status'] {
  const isRepeated = node.repeat !== null && node.fanOut === undefined;
  return scripts[node.name]?.[attempt - 1] ?? (isRepeated ? 'failed' : 'succeeded');
}

/** The exit code of an attempt that fails: attempts beyond the script have 1. */
export function failureCode({ scripts }: Case, node: Step, attempt: number): number {
  return attempt <= (scripts[node.name]?.length ?? 0) ? 1 + (attempt % 3) : 1;
}

/**
 * Whether the condition of a repetition is met after the attempt, and its output matches. Later attempts end the
 * repetitions, and print nothing that matches.
 */
export function factOf({ facts }: Case, node: Step, attempt: number) {
  const fact = facts[node.name]?.[attempt - 1];
  return { conditionMet: fact ?? node.repeat?.mode === 'until', outputMatched: fact ?? false };
}

const script: fc.Arbitrary<Script> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.constant('succeeded' as const) },
    { weight: 3, arbitrary: fc.constant('failed' as const) },
    { weight: 1, arbitrary: fc.constant('skipped' as const) },
    { weight: 1, arbitrary: fc.constant('canceled' as const) },
  ),
  { maxLength: 5 },
);

const exitCodes = fc.subarray([0, 1, 2, 3], { minLength: 1 });
const waits = { intervalMs: fc.nat(30), backoff: fc.constantFrom(1.5, 2), maxIntervalMs: fc.constantFrom(20, 1000) };
const limit = fc.integer({ min: 1, max: 4 });
const condition = fc.constant({ condition: 'test', expected: null });
const mode = fc.constantFrom('while' as const, 'until' as const);

const policies = fc.record({
  continueOn: fc.record(
    {
      failure: fc.boolean(),
      skipped: fc.boolean(),
      exitCodes,
      output: fc.constant(['text']),
      markSuccess: fc.constant(true as const),
    },
    { requiredKeys: ['failure', 'skipped'] },
  ),
  retry: fc.record(
    { limit: fc.nat(2), ...waits, exitCodes, jitter: fc.constant(0.5) },
    { requiredKeys: ['limit', 'intervalMs'] },
  ),
  repeat: fc.oneof(
    { weight: 9, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.record({ ...waits, limit }, { requiredKeys: ['intervalMs'] }) },
    {
      weight: 1,
      arbitrary: fc.record({ ...waits, limit, mode, condition }, { requiredKeys: ['intervalMs', 'mode', 'condition'] }),
    },
    // Exit codes alone may never end it.
    {
      weight: 1,
      arbitrary: fc.record(
        { ...waits, limit, mode, exitCodes },
        { requiredKeys: ['intervalMs', 'mode', 'exitCodes', 'limit'] },
      ),
    },
  ),
});

const factList = fc.array(fc.boolean(), { maxLength: 5 });

const settledAs = fc.constantFrom('succeeded', 'failed', 'skipped', 'canceled' as const);

/** Items with what happens to their instances; those that are `restoredAs` something need `isRestored`. */
const fanOut = fc.record({
  maxConcurrent: fc.integer({ min: 1, max: 3 }),
  failFast: fc.boolean(),
  isRestored: fc.boolean(),
  items: fc.array(fc.record({ script, factList, restoredAs: fc.option(settledAs, { nil: null }) }), { maxLength: 4 }),
});

/** With a time limit, there is no answer. */
const approval = fc.record({
  prompt: fc.constantFrom('', 'sure?'),
  inputs: fc.constant([]),
  by: fc.constant([]),
  timeoutMs: fc.constantFrom(0, 0, 20),
  onTimeout: fc.constantFrom('reject' as const, 'approve' as const),
});

const node = fc.record({
  fanOut: fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fanOut }),
  approval: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: approval }),
  answer: fc.constantFrom('approved' as const, 'approved' as const, 'rejected' as const),
  policies,
  keeps: fc.boolean(),
  hasSources: fc.boolean(),
  script,
  factList,
  /** The earlier steps (in an order of its own, not the order of the file) that it depends on. */
  edges: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
  place: fc.nat(),
  service: fc.constantFrom('none' as const, 'none' as const, 'none' as const, 'lasting' as const, 'dying' as const),
  restoredAs: fc.oneof(
    { weight: 9, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom('succeeded', 'failed', 'skipped', 'canceled', 'upstream_failed' as const) },
  ),
});

const anyBackgroundStep = { readyWhen: null, intervalMs: 1000, timeoutMs: 60_000 };

const handlerNode = fc.option(fc.record({ policies, script, factList }), { nil: null });

const cancelPlan = fc.record({
  after: fc.nat(60),
  reason: fc.constantFrom('stop' as const, 'stop' as const, 'timeout' as const, 'storage' as const),
  force: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
});

/**
 * Random graphs of up to eight steps, with random policies, limits, handlers, outcomes, cancels and orders of inputs.
 */
export const arbitraryCase: fc.Arbitrary<Case> = fc
  .record({
    nodes: fc.array(node, { maxLength: 8 }),
    handlers: fc.record({
      init: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: handlerNode }),
      success: handlerNode,
      failure: handlerNode,
      cancel: handlerNode,
      exit: handlerNode,
      wait: handlerNode,
    }),
    maxActiveSteps: fc.nat(3),
    delayMs: fc.constantFrom(0, 0, 10),
    cancels: fc.array(cancelPlan, { maxLength: 3 }),
    choices: fc.array(fc.nat(10_000), { minLength: 50, maxLength: 400 }),
  })
  .map(({ nodes: drawn, handlers, maxActiveSteps, delayMs, cancels, choices }) => {
    const nodes = drawn.map((node) => (node.service === 'none' ? node : { ...node, fanOut: null }));
    const steps = nodes.map(({ policies, edges, place, service, fanOut, approval, keeps, hasSources }, number) => {
      const depends = nodes.flatMap((_, other) => (other < number && edges[other] ? [`s${other}`] : []));
      const { items, isRestored, ...policy } = fanOut ?? { items: [], isRestored: false };
      const asked = approval === null ? {} : { approval };
      const settings = fanOut === null ? asked : { fanOut: { items: '', ...(policy as Omit<FanOut, 'items'>) } };
      const own = service === 'none' ? settings : { repeat: null, service: anyBackgroundStep };
      const artifacts = keeps && service === 'none' ? { artifacts: [] } : {};
      const rule = { sources: ['src'], generates: [], method: 'checksum' } as const;
      const checked = hasSources && !keeps && service === 'none' ? { upToDate: rule } : {};
      return { place, made: step(`s${number}`, { ...policies, ...own, ...artifacts, ...checked, depends }) };
    });
    const instances = nodes.flatMap(({ fanOut }, number) =>
      (fanOut?.items ?? []).map((item, index) => [`s${number}[k${index}]`, item] as const),
    );
    const kinds = ['init', 'success', 'failure', 'cancel', 'exit', 'wait'] as const;
    const handlerOf = (kind: HandlerKind) =>
      handlers[kind] === null ? null : step(handlerName(kind), { ...handlers[kind].policies, repeat: null });
    return {
      workflow: workflow({
        steps: steps.toSorted((one, other) => one.place - other.place).map(({ made }) => made),
        handlers: Object.fromEntries(kinds.map((kind) => [kind, handlerOf(kind)])),
        maxActiveSteps,
        delayMs,
      }),
      scripts: Object.fromEntries([
        ...nodes.map(({ script }, number) => [`s${number}`, script]),
        ...instances.map(([name, { script }]) => [name, script]),
        ...kinds.map((kind) => [handlerName(kind), handlers[kind]?.script ?? []]),
      ]),
      facts: Object.fromEntries([
        ...nodes.map(({ factList: list }, number) => [`s${number}`, list]),
        ...instances.map(([name, { factList: list }]) => [name, list]),
        ...kinds.map((kind) => [handlerName(kind), handlers[kind]?.factList ?? []]),
      ]),
      answers: Object.fromEntries(nodes.map(({ answer }, number) => [`s${number}`, answer])),
      dying: new Set(nodes.flatMap(({ service }, number) => (service === 'dying' ? [`s${number}`] : []))),
      items: Object.fromEntries(
        nodes.map(({ fanOut }, number) => [`s${number}`, (fanOut?.items ?? []).map((_, index) => `k${index}`)]),
      ),
      restored: nodes.flatMap((node, number) => restoredOf(node, `s${number}`)),
      cancels,
      choices,
    };
  });

type Made = {
  readonly fanOut: {
    readonly isRestored: boolean;
    readonly items: readonly { readonly restoredAs: Status | null }[];
  } | null;
  readonly edges: readonly boolean[];
  readonly restoredAs: SettledStatus | null;
  readonly keeps: boolean;
};

const kept = [{ path: 'old', bytes: 1, sha256: 'old' }];
type Status = 'succeeded' | 'failed' | 'skipped' | 'canceled';

/** What a retry takes over of a step. Items are taken over only if no step before it runs again. */
function restoredOf({ fanOut, edges, restoredAs, keeps }: Made, name: string): readonly Restored[] {
  const isFree = !edges.some(Boolean) || restoredAs !== null;
  const items = (fanOut?.items ?? []).map((_, index) => ({ key: `k${index}`, value: `k${index}` }));
  const instances = (fanOut?.items ?? []).flatMap(({ restoredAs: status }, index) =>
    status === null && restoredAs === null
      ? []
      : [{ step: `${name}[k${index}]`, status: status ?? 'succeeded', outputs: {} }],
  );
  return [
    ...(fanOut?.isRestored === true && isFree ? [{ step: name, items, instances }] : []),
    ...(restoredAs === null ? [] : [{ step: name, status: restoredAs, outputs: {}, ...(keeps ? { kept } : {}) }]),
  ];
}
