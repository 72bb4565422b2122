import { existsSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import { describe, test } from 'vitest';

/**
 * Tests that need a real service. Where it is missing they are skipped with a word about it; but not when `WF_REQUIRE` (names
 * with commas) names the service: then they fail.
 */
export function describeWith(service: string, isThere: boolean, name: string, body: () => void): void {
  const required = (process.env['WF_REQUIRE'] ?? '').split(',').map((text) => text.trim());
  if (isThere) {
    describe(name, body);
  } else if (required.includes(service)) {
    test(name, () => {
      throw new Error(`${service} is required (WF_REQUIRE) and not there`);
    });
  } else {
    describe.skip(`${name} (skipped: ${service} is not there)`, body);
  }
}

/** The same for tests that need several services at once. */
export function describeWithAll(services: Readonly<Record<string, boolean>>, name: string, body: () => void): void {
  const missing = Object.keys(services).filter((service) => services[service] !== true);
  for (const service of missing) describeWith(service, false, name, body);
  if (missing.length === 0) describe(name, body);
}

/** Is there a program of this name? It is not started: some leave files at home even then. */
export function isInstalled(program: string): boolean {
  const directories = (process.env['PATH'] ?? '').split(delimiter);
  return directories.some((directory) => existsSync(resolve(directory, program)));
}
