/** The reporters that write to standard output, by the names that `--reporter` takes. */
export const reporterKinds = ['tree', 'plain', 'github', 'json', 'quiet'] as const;

/** One of `reporterKinds`. */
export type ReporterKind = (typeof reporterKinds)[number];

/** What the choice depends on. */
export type ReporterFacts = {
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean;
  /** Whether a CI service says that it runs us (`CI`). */
  readonly ci: boolean;
  /** Whether that service is GitHub Actions. */
  readonly githubActions: boolean;
  /** The value of `TERM`; empty when there is none. */
  readonly term: string;
};

/**
 * The reporter to use: the one asked for, else `github` in GitHub Actions, `tree` on a terminal and `plain` everywhere
 * else. A tree that is asked for (a setting can be left over from a shell) where lines cannot be redrawn is `plain` too, so
 * that a job under cron still runs.
 */
export function chooseReporter(asked: ReporterKind | null, facts: ReporterFacts): ReporterKind {
  const canRedraw = facts.isTerminal && facts.term !== 'dumb';
  if (asked !== null) return asked === 'tree' && !canRedraw ? 'plain' : asked;
  if (facts.githubActions) return 'github';
  return canRedraw && !facts.ci ? 'tree' : 'plain';
}
