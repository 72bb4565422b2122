/** The names of the reporters for standard output, for `--reporter`. */
export const reporterKinds = ['tree', 'plain', 'github', 'json', 'quiet'] as const;

/** One of `reporterKinds`. */
export type ReporterKind = (typeof reporterKinds)[number];

/** The facts for the choice of a reporter. */
export type ReporterFacts = {
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean;
  /** Whether a CI service is detected (`CI`). */
  readonly ci: boolean;
  /** Whether that service is GitHub Actions. */
  readonly githubActions: boolean;
  /** The value of `TERM`; empty if it is not set. */
  readonly term: string;
};

/**
 * Returns the reporter to use: the requested one, else `github` in GitHub Actions, `tree` on a terminal and `plain` everywhere
 * else. A requested tree becomes `plain` where lines cannot be redrawn, so that a job under cron still runs with a setting of
 * the shell.
 */
export function chooseReporter(asked: ReporterKind | null, facts: ReporterFacts): ReporterKind {
  const canRedraw = facts.isTerminal && facts.term !== 'dumb';
  if (asked !== null) return asked === 'tree' && !canRedraw ? 'plain' : asked;
  if (facts.githubActions) return 'github';
  return canRedraw && !facts.ci ? 'tree' : 'plain';
}

/** The values of `--output`: the amount of output that a finished step leaves on a terminal. */
export const outputModes = ['full', 'last', 'errors', 'none'] as const;
