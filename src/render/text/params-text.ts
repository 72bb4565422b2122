import type { Param } from '#core/run/run.ts';
import type { Workflow } from '#core/workflow.ts';
import { escapeControls } from './sanitize.ts';
import { shellQuote } from './shell-quote.ts';

/** Formats parameters for a command line: `env=prod 'two words'`. */
export function paramsText(params: readonly Param[]): string {
  return params.map(({ name, value }) => `${name === null ? '' : `${name}=`}${paramValueText(value)}`).join(' ');
}

/** Returns the parameters with the values of declared secrets replaced by `***`. */
export function hideSecretParams(params: readonly Param[], workflow: Pick<Workflow, 'secrets'>): readonly Param[] {
  const secrets = new Set(workflow.secrets.map((secret) => secret.name));
  if (secrets.size === 0) return params;
  return params.map((param) => (param.name !== null && secrets.has(param.name) ? { ...param, value: '***' } : param));
}

/** Formats a value for a command line, in quotes if it needs them. */
export function paramValueText(value: string): string {
  return value === '***' ? value : escapeControls(shellQuote(value));
}
