import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cruise, type IConfiguration, type ICruiseResult, type IForbiddenRuleType } from 'dependency-cruiser';
import { afterEach, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const rules: Rules = createRequire(import.meta.url)('../../.dependency-cruiser.cjs');

type Rules = IConfiguration & { readonly forbidden: IForbiddenRuleType[] };

/**
 * Types that come from files that are no contracts, importer by importer. This list may only get shorter: an entry that no
 * import needs any more fails the test below.
 */
const knownCrossings: Readonly<Record<string, readonly string[]>> = {};

/** For every rule files that break it and no other: the rule, the file, what it holds. */
const plants: readonly [rule: string, file: string, text: string][] = [
  ['core-imports-only-what-it-may', 'src/core/planted.ts', "import 'node:path';"],
  ['language-imports-only-what-it-may', 'src/language/planted.ts', "import '../store/store.ts';"],
  ['executors-imports-only-what-it-may', 'src/executors/planted.ts', "import '../engine/engine.ts';"],
  ['processes-imports-only-what-it-may', 'src/processes/planted.ts', "import '../executors/registry.ts';"],
  ['fast-imports-only-what-it-may', 'src/fast/planted.ts', "import 'node:http';"],
  ['store-imports-only-what-it-may', 'src/store/planted.ts', "import 'commander';"],
  ['engine-imports-only-what-it-may', 'src/engine/planted.ts', "import '../store/memory.ts';"],
  ['engine/driver-imports-only-what-it-may', 'src/engine/driver/planted.ts', "import 'node:path';"],
  [
    'engine/temporal/workflow-imports-only-what-it-may',
    'src/engine/temporal/workflow/planted.ts',
    "import 'node:path';",
  ],
  ['service-imports-only-what-it-may', 'src/service/planted.ts', "import '../engine/local/run-host.ts';"],
  ['mail-imports-only-what-it-may', 'src/mail/planted.ts', "import '../executors/registry.ts';"],
  ['daemon-imports-only-what-it-may', 'src/daemon/planted.ts', "import '../engine/engine.ts';"],
  ['daemon/schedule-imports-only-what-it-may', 'src/daemon/schedule/planted.ts', "import '../../service/service.ts';"],
  ['forwarding-imports-only-what-it-may', 'src/forwarding/planted.ts', "import '../engine/engine.ts';"],
  ['notifications-imports-only-what-it-may', 'src/notifications/planted.ts', "import '../engine/engine.ts';"],
  ['doctor-imports-only-what-it-may', 'src/doctor/planted.ts', "import '../engine/engine.ts';"],
  ['render-imports-only-what-it-may', 'src/render/planted.ts', "import '../language/load.ts';"],
  ['config-imports-only-what-it-may', 'src/config/planted.ts', "import '../service/start-runs.ts';"],
  ['server-imports-only-what-it-may', 'src/server/planted.ts', "import 'chalk';"],
  ['cli-imports-only-what-it-may', 'src/cli/planted.ts', "import '../store/memory.ts';"],
  ['client-imports-only-what-it-may', 'src/client/planted.ts', "import '../engine/local/run-host.ts';"],
  ['page-imports-only-what-it-may', 'src/page/planted.tsx', "import '../server/server.ts';"],
  ['run-view-imports-only-what-it-may', 'src/run-view/planted.tsx', "import '../page/planted.tsx';"],
  ['system-imports-only-what-it-may', 'src/system/planted.ts', "import '../core/other-type.ts';"],
  ['environment-imports-only-what-it-may', 'src/environment/planted.ts', "import '../store/memory.ts';"],
  ['core-imports-types-of-contracts-only', 'src/core/type.ts', "import type { A } from '../store/store.ts';"],
  ['language-imports-types-of-contracts-only', 'src/language/type.ts', "import type { A } from '../app/app.ts';"],
  ['processes-imports-types-of-contracts-only', 'src/processes/type.ts', "import type { A } from '../app/app.ts';"],
  ['executors-imports-types-of-contracts-only', 'src/executors/type.ts', "import type { A } from '../app/app.ts';"],
  ['mail-imports-types-of-contracts-only', 'src/mail/type.ts', "import type { A } from '../app/app.ts';"],
  ['fast-imports-types-of-contracts-only', 'src/fast/type.ts', "import type { A } from '../app/app.ts';"],
  ['store-imports-types-of-contracts-only', 'src/store/type.ts', "import type { A } from '../service/start-runs.ts';"],
  ['engine-imports-types-of-contracts-only', 'src/engine/type.ts', "import type { A } from '../store/memory.ts';"],
  [
    'service-imports-types-of-contracts-only',
    'src/service/type.ts',
    "import type { A } from '../engine/local/run-host.ts';",
  ],
  [
    'client-imports-types-of-contracts-only',
    'src/client/type.ts',
    "import type { A } from '../engine/local/run-host.ts';",
  ],
  [
    'daemon-imports-types-of-contracts-only',
    'src/daemon/type.ts',
    "import type { A } from '../engine/local/run-host.ts';",
  ],
  ['forwarding-imports-types-of-contracts-only', 'src/forwarding/type.ts', "import type { A } from '../app/app.ts';"],
  [
    'notifications-imports-types-of-contracts-only',
    'src/notifications/type.ts',
    "import type { A } from '../app/app.ts';",
  ],
  ['doctor-imports-types-of-contracts-only', 'src/doctor/type.ts', "import type { A } from '../app/app.ts';"],
  ['run-view-imports-types-of-contracts-only', 'src/run-view/type.ts', "import type { A } from '../page/planted.tsx';"],
  [
    'system-imports-types-of-contracts-only',
    'src/system/type.ts',
    "import type { A } from '../service/start-runs.ts';",
  ],
  [
    'environment-imports-types-of-contracts-only',
    'src/environment/type.ts',
    "import type { A } from '../engine/local/run-host.ts';",
  ],
  ['render-imports-types-of-contracts-only', 'src/render/type.ts', "import type { A } from '../language/load.ts';"],
  [
    'config-imports-types-of-contracts-only',
    'src/config/type.ts',
    "import type { A } from '../service/start-runs.ts';",
  ],
  ['server-imports-types-of-contracts-only', 'src/server/type.ts', "import type { A } from '../app/app.ts';"],
  ['cli-imports-types-of-contracts-only', 'src/cli/type.ts', "import type { A } from '../store/memory.ts';"],
  ['page-imports-types-of-contracts-only', 'src/page/type.ts', "import type { A } from '../server/server.ts';"],
  ['config-is-imported-through-its-faces', 'src/app/config.ts', "import '../config/planted.ts';"],
  ['language-is-imported-through-its-faces', 'src/app/language.ts', "import '../language/planted.ts';"],
  ['processes-is-imported-through-its-faces', 'src/app/processes.ts', "import '../processes/planted.ts';"],
  ['service-is-imported-through-its-faces', 'src/app/service.ts', "import '../service/planted.ts';"],
  ['render-is-imported-through-its-faces', 'src/cli/render.ts', "import '../render/reporters/plain.ts';"],
  ['run-view-is-imported-through-its-faces', 'src/page/part.tsx', "import '../run-view/planted.tsx';"],
  ['app-is-faceless', 'src/app/app.ts', "import '../render/reporters.ts';"],
  ['errors-import-nothing', 'src/system/errors.ts', "import 'node:path';"],
  ['nothing-imports-cli', 'src/other.ts', "import './cli/main.ts';"],
  ['cli-loads-app-on-demand', 'src/cli/main.ts', "import '../app/app.ts';"],
  ['cli-loads-the-client-on-demand', 'src/cli/access/open.ts', "import '../../client/daemon-client.ts';"],
  ['only-serve-loads-the-server', 'src/cli/commands/runs/run-command.ts', "import '../../../server/server.ts';"],
  ['language-reads-the-disk-only-in-load', 'src/language/diagnostic.ts', "import 'node:fs';"],
  ['store-uses-the-disk-only-in-files', 'src/store/memory.ts', "import 'node:fs/promises';"],
  ['heavy-packages-are-loaded-on-demand', 'src/processes/heavy.ts', "import 'zx/core';"],
  ['no-cycles', 'src/core/ring.ts', "import './ring.ts';"],
  ['no-cycles', 'src/core/one-type.ts', "import type { Other } from './other-type.ts';"],
  ['every-import-resolves', 'src/core/missing.ts', "import './nowhere.ts';"],
];

/** Keeps every rule: each place that the plants point to, and imports that look like breaches. */
const allowed: Readonly<Record<string, string>> = {
  // The other half of a circle, which is reported once.
  'src/core/other-type.ts': "import type { One } from './one-type.ts';",
  'src/store/store.ts': "import type { Engine } from '../engine/engine.ts';",
  'src/engine/engine.ts': "import '../executors/registry.ts';",
  'src/processes/capture.ts': "await import('zx/core');",
  'src/engine/local/run-host.ts': "await import('re2js');",
  'src/executors/registry.ts': "await import('got');",
  'src/service/service.ts': "import './start-runs.ts';",
  'src/service/start-runs.ts': "import '../language/load.ts';",
  'src/language/load.ts': "import 'node:fs';",
  'src/store/files/journal.ts': "import 'node:fs';",
  'src/render/reporters.ts': "import './reporters/plain.ts';",
  'src/render/reporters/plain.ts': "import 'chalk';",
  'src/server/server.ts': "import 'node:http';",
  'src/client/daemon-client.ts': "import 'node:https'; import '../service/start-runs.ts';",
  'src/cli/run/start-remotely.ts': "import '../../client/daemon-client.ts';",
  'src/cli/commands/setup/serve-command.ts': "import '../../../server/server.ts'; await import('../../../app/app.ts');",
};

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

test('every module of the program follows the rules', { timeout: 300_000 }, async () => {
  const { modules, summary } = await check(root);

  const crossings = summary.violations.filter(({ rule }) => rule.name.endsWith('-imports-types-of-contracts-only'));
  const others = summary.violations.filter((violation) => !crossings.includes(violation));
  expect(others.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`)).toEqual([]);
  const known = Object.entries(knownCrossings).flatMap(([from, list]) => list.map((to) => `${from} -> ${to}`));
  expect(crossings.map(({ from, to }) => `${from} -> ${to}`).sort()).toEqual(known.sort());
  expect(modules.filter(({ source }) => source.startsWith('src/')).length).toBeGreaterThan(50);
});

test('each rule finds its planted breach, and only that one', async () => {
  const files = { ...allowed, ...Object.fromEntries(plants.map(([, file, text]) => [file, text])) };

  const { summary } = await check(project(files));

  const found = summary.violations.map(({ rule, from }) => [rule.name, from]);
  expect(found.sort()).toEqual(plants.map(([rule, file]) => [rule, file]).sort());
});

test('every rule has a planted breach', () => {
  expect([...new Set(plants.map(([rule]) => rule))].sort()).toEqual(rules.forbidden.map(({ name }) => name).sort());
});

async function check(baseDir: string): Promise<ICruiseResult> {
  const options = { ...rules.options, baseDir, ruleSet: rules, validate: true };
  // Compiling to the language of today leaves most of a file as it is.
  const compilation = { tsConfig: { options: { target: 'es2022' } } };
  const { output } = await cruise(['src'], options, {}, compilation);
  if (typeof output === 'string') throw new Error(output);
  return output;
}

function project(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'wf-architecture-'));
  folders.push(folder);
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), `${text}\nexport {};\n`);
  }
  return folder;
}
