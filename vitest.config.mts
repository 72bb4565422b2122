import { defineConfig } from 'vitest/config';

/** Where `.ci/run` wants the results as JSON; unset elsewhere. */
const report = process.env['WF_TEST_REPORT'];

export default defineConfig({
  test: {
    include: ['tests/**/*.test.ts'],
    // Tests start processes, change the environment and receive signals: each file has a process of its own.
    pool: 'forks',
    // They measure nothing, but many wait for what happens soon: one file at a time keeps it so on a small machine.
    maxWorkers: 1,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
  },
});
