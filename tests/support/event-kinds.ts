import type { RunEvent } from '#core/run/run.ts';

/** The compiler names a missing one; add it to `event.json` too. */
const every: { readonly [kind in RunEvent['type']]: true } = {
  'run.created': true,
  'run.queued': true,
  'run.owned': true,
  'run.prepared': true,
  'run.blocked': true,
  'run.started': true,
  'run.late': true,
  'step.late': true,
  'step.restored': true,
  'step.scheduled': true,
  'step.blocked': true,
  'step.acquired': true,
  'step.outdated': true,
  'step.started': true,
  'step.contained': true,
  'artifact.kept': true,
  'step.serving': true,
  'step.ending': true,
  'step.expanded': true,
  'step.canceling': true,
  'step.waiting': true,
  'step.ready': true,
  'step.held': true,
  'step.answered': true,
  'step.finished': true,
  'step.marked': true,
  'run.delayed': true,
  'run.canceling': true,
  'run.handling': true,
  'run.warned': true,
  'run.finished': true,
};

/** Every kind of event. */
export const eventKinds: readonly string[] = Object.keys(every);
