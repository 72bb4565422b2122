import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Where `.ci/run` wants the results as JSON; unset elsewhere. */
const report = process.env['WF_TEST_REPORT'];

const ALONE = 'tests/**/*.alone.test.ts';
const SURVEYS = 'tests/**/*.survey.test.ts';

/** The name of a file says how it runs; CONTRIBUTING.md explains it. */
export default defineConfig({
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A busy machine takes longer than the default of 1 s, and a poll that succeeds ends at once.
    expect: { poll: { timeout: 30_000 } },
    reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
    pool: 'forks',
    // Files share a process, so a test must not leave its changes to the next.
    restoreMocks: true,
    unstubEnvs: true,
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['tests/**/*.test.{ts,tsx}'],
          exclude: [ALONE, SURVEYS],
          isolate: false,
          // One more than cores, since workers often wait for the programs that they start.
          maxWorkers: availableParallelism() + 1,
        },
      },
      {
        extends: true,
        test: { name: 'alone', include: [ALONE], maxWorkers: 1 },
      },
      {
        extends: true,
        // Surveys wait most: for servers, time limits and processes that they killed.
        // With another number of workers they are a group of their own.
        test: {
          name: 'survey',
          include: [SURVEYS],
          maxWorkers: availableParallelism() + 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
