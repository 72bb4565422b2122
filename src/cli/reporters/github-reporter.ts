import { randomUUID } from 'node:crypto';
import { appendFileSync, statSync } from 'node:fs';
import { createGithubReporter, githubSummary, type RecapOptions, type Reporter } from '#render/reporters.ts';
import { systemClock } from '#system/clock.ts';
import { messageOf } from '#system/errors.ts';
import type { Console } from '../terminal/console.ts';

/** The largest step summary in bytes; GitHub rejects a larger one completely. */
const LARGEST_SUMMARY = 1024 * 1024;

/** Creates the reporter for GitHub Actions, with the files that the environment names. */
export function githubReporter({ outTerminal, env, err }: Console, options: RecapOptions): Reporter {
  const page = env['GITHUB_STEP_SUMMARY'] || null;
  return createGithubReporter(outTerminal, {
    ...options,
    clock: systemClock,
    workspace: env['GITHUB_WORKSPACE'] || options.cwd,
    token: () => randomUUID().replaceAll('-', ''),
    summarize: ({ summary }, workflow) => {
      if (page === null) return;
      try {
        const taken = statSync(page, { throwIfNoEntry: false })?.size ?? 0;
        appendFileSync(page, githubSummary(summary, workflow, LARGEST_SUMMARY - taken));
      } catch (error) {
        err.write(`wf: the step summary was not written: ${messageOf(error)}\n`);
      }
    },
  });
}
