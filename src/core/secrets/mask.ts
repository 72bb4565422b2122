import { itemText } from '../fan-out/items.ts';
import type { Item, Outcome, Outputs, Param, RunEvent } from '../run/run.ts';
import type { ItemScalar, Workflow } from '../workflow.ts';
import { MASK, type Secrets } from './secrets.ts';

/** The secrets of a run: these values, and the values of the variables with these names. */
export type Hidden = { readonly secrets: Secrets; readonly names: ReadonlySet<string> };

/**
 * Masks an event before it is stored and shown. Changed parameters and outputs are marked as masked, so that a retry
 * does not take the mask for a value.
 */
export function maskEvent(event: RunEvent, hidden: Hidden): RunEvent {
  const text = (plain: string) => hidden.secrets.mask(plain);
  switch (event.type) {
    case 'run.created':
    case 'run.prepared':
      return { ...event, params: maskParams(event.params, hidden) };
    case 'step.restored':
      return {
        ...event,
        ...maskOutputs(event.outputs, hidden),
        ...(event.before && { before: { ...event.before, message: text(event.before.message) } }),
      };
    case 'run.blocked':
    case 'step.blocked':
      return { ...event, name: text(event.name) };
    case 'artifact.kept':
      return { ...event, path: text(event.path) };
    case 'step.outdated':
      return { ...event, reason: event.reason.map((reason) => ({ ...reason, name: text(reason.name) })) };
    case 'step.contained': {
      const { image } = event.container;
      return image === null ? event : { ...event, container: { ...event.container, image: text(image) } };
    }
    case 'step.waiting':
      return { ...event, outcome: maskOutcome(event.outcome, hidden) };
    case 'step.held':
      return {
        ...event,
        message: text(event.message),
        prompt: text(event.prompt),
        ...maskOutputs(event.outputs, hidden),
      };
    case 'step.answered':
      return { ...event, comment: text(event.comment), ...maskInputs(event.inputs, hidden) };
    case 'step.finished':
      return { ...event, message: text(event.message), ...maskOutputs(event.outputs, hidden) };
    case 'step.marked':
      return { ...event, by: text(event.by), run: { ...event.run, message: text(event.run.message) } };
    case 'step.expanded':
      return { ...event, items: event.items.map((item) => maskItem(item, hidden)) };
    case 'step.canceling':
    case 'run.canceling':
    case 'run.warned':
    case 'run.finished':
      return { ...event, message: text(event.message) };
    case 'run.late':
    case 'step.late':
    case 'run.queued':
    case 'run.owned':
    case 'run.started':
    case 'run.delayed':
    case 'run.handling':
    case 'step.scheduled':
    case 'step.acquired':
    case 'step.started':
    case 'step.serving':
    case 'step.ending':
    case 'step.ready':
      return event;
  }
}

/** Masks parameters before they are shown. */
export function maskParams(params: readonly Param[], hidden: Hidden): readonly Param[] {
  return params.map((param) => {
    const value = maskValue(param.name, param.value, hidden);
    return value === param.value ? param : { ...param, value, masked: true };
  });
}

/** Keys contain no secrets: they name the instance in every event. */
function maskItem(item: Item, { secrets }: Hidden): Item {
  const { value: plain } = item;
  const hide = (scalar: ItemScalar) => {
    const text = secrets.mask(String(scalar));
    return text === String(scalar) ? scalar : text;
  };
  const value =
    typeof plain === 'object'
      ? Object.fromEntries(Object.entries(plain).map(([field, text]) => [field, hide(text)]))
      : hide(plain);
  return itemText(value) === itemText(plain) ? item : { ...item, value, masked: true };
}

function maskOutcome(outcome: Outcome, hidden: Hidden): Outcome {
  const outputs = 'outputs' in outcome ? { outputs: maskOutputs(outcome.outputs, hidden).outputs } : {};
  const message = 'message' in outcome ? { message: hidden.secrets.mask(outcome.message) } : {};
  return { ...outcome, ...outputs, ...message };
}

function maskOutputs(outputs: Outputs, hidden: Hidden): { outputs: Outputs; masked?: readonly string[] } {
  const shown = Object.fromEntries(
    Object.entries(outputs).map(([name, value]) => [name, maskValue(name, value, hidden)]),
  );
  const masked = Object.keys(outputs).filter((name) => shown[name] !== outputs[name]);
  return masked.length === 0 ? { outputs } : { outputs: shown, masked };
}

function maskInputs(inputs: Outputs, hidden: Hidden): { inputs: Outputs; masked?: readonly string[] } {
  const { outputs, ...masked } = maskOutputs(inputs, hidden);
  return { inputs: outputs, ...masked };
}

/** Masks a value; a variable that is secret by its name is masked as a whole, however short its value is. */
export function maskValue(name: string | null, value: string, { secrets, names }: Hidden): string {
  return value !== '' && name !== null && names.has(name) ? MASK : secrets.mask(value);
}

/** Keys whose values are names that connect the parts of a workflow; they are not masked. */
const names = new Set(['name', 'file', 'group', 'depends', 'type']);

/** The workflow without the secrets in its texts, to be stored and shown. */
export function maskWorkflow(workflow: Workflow, secrets: Secrets): Workflow {
  return maskTexts(workflow, secrets, names) as Workflow;
}

function maskTexts(value: unknown, secrets: Secrets, kept: ReadonlySet<string>): unknown {
  if (typeof value === 'string') return secrets.mask(value);
  if (Array.isArray(value)) return value.map((item) => maskTexts(item, secrets, kept));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      if (kept.has(key)) return [key, item];
      // The configuration of an executor has its own keys, none of which is such a name.
      return [key, maskTexts(item, secrets, key === 'config' ? new Set() : kept)];
    }),
  );
}
