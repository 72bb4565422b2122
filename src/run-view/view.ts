import type * as api from './api/types.ts';

/** A response of the API, as read-only data. */
type Shown<T> = T extends object ? { readonly [Key in keyof T]: Shown<T[Key]> } : T;

export type RunView = Shown<api.RunView>;
export type RunHead = Shown<api.RunHead>;
export type StepView = Shown<api.StepView>;
export type StepAttempt = Shown<api.StepAttempt>;
export type StepApproval = NonNullable<StepView['approval']>;
export type RunFailure = RunView['failures'][number];
export type RunGraph = NonNullable<RunView['graph']>;
export type GraphNode = RunGraph['nodes'][number];

/** Longer text is cut. */
export const MAX_TEXT = 2000;

/** Returns the start of a text that is too long to show, with a note. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most)}… (${(text.length - most).toLocaleString('en')} more characters)`;
}
