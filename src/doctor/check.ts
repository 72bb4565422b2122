/** Result of one check of `wf doctor`. */
export type Check = {
  /** The subject: an executor's tool, a directory, a property of the machine. */
  readonly name: string;
  readonly ok: boolean;
  /** Null if there is none or it is unknown. */
  readonly version: string | null;
  /** One line: its location, or the problem. */
  readonly detail: string;
  /** How to fix the problem; null if there is none. */
  readonly help: string | null;
};
