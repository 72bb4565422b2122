/** One thing that `wf doctor` looks at. */
export type Check = {
  /** What was looked for: an executor's tool, a place, a property of the machine. */
  readonly name: string;
  readonly ok: boolean;
  /** Null where there is none, or where it does not tell. */
  readonly version: string | null;
  /** One line: where it is, or what is wrong. */
  readonly detail: string;
  /** How to mend it; null where nothing has to be. */
  readonly help: string | null;
};
