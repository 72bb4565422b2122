import type { Approval, ApprovalInput } from '#core/workflow.ts';
import { declaredRule, isSecretDeclaration } from '../declared-params.ts';
import { asList, type OpenTextMap, type RawApproval } from '../raw.ts';
import { toMs } from './build-policies.ts';
import { fixedNumber } from './number-texts.ts';

/** `approval` with its defaults, as a part of a step; empty without one. */
export function approvalOf(raw: boolean | RawApproval | undefined): { readonly approval?: Approval } {
  if (raw === undefined || raw === false) return {};
  const { prompt = '', required, by, timeoutSec, onTimeout = 'reject' } = raw === true ? {} : raw;
  const needed = new Set(asList(required));
  const inputs = inputsOf(raw).map((entry) => inputOf(entry, needed));
  return { approval: { prompt, inputs, by: asList(by), timeoutMs: toMs(fixedNumber(timeoutSec) ?? 0), onTimeout } };
}

/** The entries of `input`. */
export function inputsOf(raw: boolean | RawApproval | undefined): readonly (string | OpenTextMap)[] {
  return typeof raw === 'object' ? asList(raw.input) : [];
}

/** The name of an input. */
export function inputName(entry: string | OpenTextMap): string {
  return typeof entry === 'string' ? entry : String(entry['name'] ?? '');
}

/** The names of inputs that are declared as secrets. */
export function secretInputs(raw: boolean | RawApproval | undefined): readonly string[] {
  return inputsOf(raw).flatMap((entry) =>
    typeof entry === 'object' && isSecretDeclaration(entry) ? [inputName(entry)] : [],
  );
}

function inputOf(entry: string | OpenTextMap, needed: ReadonlySet<string>): ApprovalInput {
  const name = inputName(entry);
  const { value, rule } =
    typeof entry === 'string' ? { value: '', rule: { type: 'string' as const } } : declaredRule(entry);
  const secret = typeof entry === 'object' && isSecretDeclaration(entry) ? { secret: true as const } : {};
  return { name, default: value, rule: needed.has(name) ? { ...rule, required: true } : rule, ...secret };
}
