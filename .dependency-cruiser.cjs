'use strict';

// Who may import whom: the table of docs/architecture.md, as rules. tests/architecture runs them and shows that each finds
// a breach. What a folder may import as a value it may import as a type, and the types of contracts besides.

/** Each costs more to load than most runs need: only where it is used, by `import()`, or by `require` where nothing waits. */
const HEAVY = [
  '@temporalio/(activity|client|envconfig|worker)',
  'ajv',
  'croner',
  'cronstrue',
  'dockerode',
  'got',
  'jq-web',
  'nodemailer',
  'prom-client',
  're2js',
  'yaml',
  'zx',
];

/** Any builtin module; unlike these, a path to a file has a dot. */
const ANY = '[a-z0-9_/]+';

/** Files whose types nearly every folder may import: the words in which folders speak with each other. */
const CONTRACTS = [
  'config/part-settings[.]ts$',
  'core/',
  'doctor/machine[.]ts$',
  'engine/engine[.]ts$',
  'executors/executor[.]ts$',
  'language/(diagnostic|schema/schema-doc)[.]ts$',
  'processes/end-signal[.]ts$',
  'store/(log-ends|logs|store)[.]ts$',
  'system/(clock|file-pieces)[.]ts$',
];

/** The files of a folder that others may import. Each lists what it offers, or is a contract. */
const FACES = {
  config: ['config', 'directories', 'part-settings', 'settings'],
  language: [
    ...['diagnostic', 'forms/convert', 'formats', 'load', 'locate', 'read/yaml'],
    ...['schema/dagu-schema', 'schema/schema-doc', 'schema/schema-type', 'schema/workflow.schema'],
  ],
  processes: ['end-signal', 'named-pipes', 'processes', 'programs', 'started-program'],
  render: ['data-views', 'log-lines', 'report', 'reporters', 'terminal', 'text', 'views'],
  'run-view': ['api/types', 'components', 'fan-out/fan-out-box', 'graph', 'source', 'texts'],
  service: [
    'backfill',
    'control-runs',
    'history',
    'local-service',
    'logs',
    'served',
    'service',
    'start-runs',
    'workflows',
  ],
};

/** Which imports a rule is about: `import type` costs nothing at run time. */
const VALUE = { dependencyTypesNot: ['type-only', 'type-import'] };
const TYPE = { dependencyTypes: ['type-only', 'type-import'] };

/** What a folder may import besides itself and `system/errors.ts`: patterns for paths under `src/`, packages and builtins. */
const FOLDERS = {
  core: {},
  // What any folder may need of the machine and of the language; a folder names the files that it uses.
  system: { packages: ['re2js'], builtins: [ANY] },
  language: {
    src: ['core/', 'fast/(accelerators|os)[.]ts$', 'system/(descriptors|pattern|files|near-names)[.]ts$'],
    packages: ['ajv', 're2js', 'yaml'],
    builtins: ['fs', 'path'],
  },
  // Starting programs, knowing them and ending them.
  processes: {
    src: ['core/', 'fast/', 'system/(descriptors|files|time-limit|turns)[.]ts$'],
    packages: ['zx'],
    builtins: [ANY],
  },
  executors: {
    src: ['core/', 'mail/', 'processes/', 'system/(basic-login|descriptors|pattern|files|time-limit)[.]ts$'],
    packages: ['dockerode', 'got', 'jq-web'],
    builtins: [ANY],
  },
  // A step sends mail, and so does a run about itself: neither folder may import the other.
  mail: {
    src: ['core/', 'render/text[.]ts$', 'store/log-ends[.]ts$', 'system/files[.]ts$'],
    packages: ['nodemailer'],
    builtins: [ANY],
  },
  // Notifications share the HTTP requests of steps.
  notifications: {
    src: [
      'core/',
      'executors/http/(header-fields|http-request|json-template)[.]ts$',
      'render/text[.]ts$',
      'store/log-ends[.]ts$',
      'system/time-limit[.]ts$',
    ],
    builtins: ['crypto'],
  },
  // The switch of accelerators, short replacements for builtin modules that take long to load, and flags of V8.
  fast: { builtins: ['child_process', 'fs', 'os', 'v8', 'vm'] },
  store: {
    src: ['core/', 'fast/', 'system/(descriptors|durable-file|files|time-limit|trees/open-directory|turns)[.]ts$'],
    builtins: [ANY],
  },
  // Parameters, variables, secrets and conditions, evaluated for a run.
  environment: {
    src: ['core/', 'system/(glob|pattern|files|trees/hash-files|zoned-time)[.]ts$'],
    packages: ['yaml'],
    builtins: ['crypto', 'path'],
  },
  engine: {
    src: [
      'core/',
      'environment/',
      'executors/(executor|registry)[.]ts$',
      'processes/end-signal[.]ts$',
      'store/store[.]ts$',
      'system/(clock|descriptors|engine-address|file-pieces|glob|pattern|files|time-limit|trees/(copy-file|open-directory|walk-files)|turns)[.]ts$',
    ],
    packages: ['re2js', 'yaml', '@temporalio/(activity|client|common|envconfig|proto|worker|workflow)'],
    builtins: [ANY],
  },
  // Decides and orders, without a process, a file or a network: any engine may host it.
  'engine/driver': { src: ['core/'] },
  // Runs inside a workflow of Temporal, which allows nothing else. The ends of child runs are those of other attempts.
  'engine/temporal/workflow': {
    src: [
      'core/',
      'engine/(attempt/(run-locks|running-attempts)[.]ts$|driver/|temporal/protocol[.]ts$)',
      'processes/end-signal[.]ts$',
    ],
    packages: ['@temporalio/workflow'],
  },
  service: {
    src: [
      'core/',
      'language/',
      'engine/engine[.]ts$',
      'environment/(environment|fingerprint|known-secrets|moment|precondition)[.]ts$',
      'render/text[.]ts$',
      'fast/random-bytes[.]ts$',
      'store/(log-ends|store)[.]ts$',
      'system/(descriptors|durable-file|glob|pattern|files|near-names|trees/copy-file|turns|untrusted|zoned-time)[.]ts$',
    ],
    builtins: [ANY],
  },
  // The same use cases, asked of a daemon.
  client: { src: ['core/', 'service/', 'language/locate[.]ts$', 'store/log-ends[.]ts$'], builtins: [ANY] },
  daemon: {
    src: [
      'core/',
      'service/',
      'system/clock[.]ts$',
      'language/(formats|load)[.]ts$',
      'store/store[.]ts$',
      'system/(descriptors|file-pieces|files|near-names|turns)[.]ts$',
    ],
    packages: ['croner', 'cronstrue', 'prom-client'],
    builtins: [ANY],
  },
  // When workflows are due is decided without looking at anything else of the daemon.
  'daemon/schedule': {
    src: ['core/', 'language/formats[.]ts$', 'service/start-runs[.]ts$', 'system/turns[.]ts$'],
    packages: ['croner', 'cronstrue'],
    builtins: ['crypto', 'path'],
  },
  forwarding: {
    src: ['core/', 'executors/http/http-problem[.]ts$', 'system/(descriptors|time-limit|files|turns)[.]ts$'],
    packages: ['got', 'prom-client'],
    builtins: [ANY],
  },
  // What executors would find on this machine, told without a run.
  doctor: { src: ['executors/', 'processes/'], builtins: [ANY] },
  // The report is drawn by the components that it shares with the page.
  render: {
    src: ['core/', 'language/diagnostic[.]ts$', 'run-view/', 'store/log-ends[.]ts$'],
    packages: ['chalk', 'preact', 'preact-render-to-string'],
    builtins: ['path'],
  },
  // A project's file is as little to be trusted as a workflow: it goes through the same guards.
  config: {
    src: [
      'core/',
      'language/(diagnostic|read/yaml|schema/schema-type)[.]ts$',
      'fast/os[.]ts$',
      'system/(basic-login|descriptors|engine-address|files|near-names|untrusted)[.]ts$',
    ],
    packages: ['yaml'],
    builtins: [ANY],
  },
  // Parameters come and go as texts, in the one syntax that there is for them.
  // What the command line prints for programs, the server answers.
  server: {
    src: [
      'core/',
      'service/',
      'system/(basic-login|descriptors|stack|turns)[.]ts$',
      'daemon/metrics[.]ts$',
      'render/(data-views|log-lines|text)[.]ts$',
      'language/formats[.]ts$',
      'store/log-ends[.]ts$',
    ],
    builtins: [ANY],
  },
  cli: {
    src: [
      'app/',
      'config/',
      'core/',
      'doctor/machine[.]ts$',
      'system/clock[.]ts$',
      'client/',
      'render/',
      'daemon/schedule/(cron-times|next-start)[.]ts$',
      'server/',
      'service/',
      'language/(forms/convert|formats|locate|schema/(dagu-schema|schema-doc|schema-type))[.]ts$',
      'fast/',
      'store/log-ends[.]ts$',
      'system/(engine-address|glob|files|near-names|stack|time-limit|trees/copy-file|turns|zoned-time)[.]ts$',
    ],
    packages: ['commander'],
    builtins: [ANY],
  },
  // Runs in a browser: nothing of Node, and of the program only what is pure.
  page: {
    src: [
      'core/',
      'language/schema/schema-type[.]ts$',
      'language/schema/workflow[.]schema[.]json$',
      'run-view/',
      'render/text[.]ts$',
    ],
    packages: ['@codemirror/.+', '@lezer/highlight', '@preact/signals', 'openapi-fetch', 'preact', 'preact-iso'],
  },
  // What page and report share: it knows neither a browser nor a daemon.
  'run-view': {
    src: ['core/', 'render/text[.]ts$'],
    packages: ['preact'],
  },
};

function folderRules([folder, { src = [], packages = [], builtins = [] }]) {
  const from = { path: `^src/${folder}/` };
  const allowed = [
    '^package[.]json$',
    // Published schemas are data, which the program prints.
    '^docs/reference/schemas/',
    '^src/system/errors[.]ts$',
    `^src/${folder}/`,
    ...src.map((path) => `^src/${path}`),
    ...packages.map((name) => `(^|/)node_modules/${name}/`),
    ...builtins.map((name) => `^(node:)?${name}$`),
  ];
  // The core takes nothing from outside, and what runs in a browser no word of Node.
  const contracts = (folder === 'core' || folder === 'page' ? [] : CONTRACTS).map((path) => `^src/${path}`);
  const values = {
    name: `${folder}-imports-only-what-it-may`,
    severity: 'error',
    from,
    to: { couldNotResolve: false, pathNot: allowed, ...VALUE },
  };
  const types = {
    name: `${folder}-imports-types-of-contracts-only`,
    severity: 'error',
    from,
    to: { couldNotResolve: false, pathNot: [...allowed, ...contracts], ...TYPE },
  };
  // A folder within a folder takes the types that the outer one may take.
  return folder.includes('/') ? [values] : [values, types];
}

function faceRule([folder, faces]) {
  return {
    name: `${folder}-is-imported-through-its-faces`,
    severity: 'error',
    from: { path: '^src/', pathNot: `^src/${folder}/` },
    to: { path: `^src/${folder}/`, pathNot: `^src/${folder}/(${faces.join('|')})[.](tsx?|json)$` },
  };
}

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...Object.entries(FOLDERS).flatMap(folderRules),
    ...Object.entries(FACES).map(faceRule),
    {
      name: 'app-is-faceless',
      comment: 'The composition root serves every face, so it knows none.',
      severity: 'error',
      from: { path: '^src/app/' },
      to: { path: '^src/(render|server)/', ...VALUE },
    },
    {
      name: 'errors-import-nothing',
      severity: 'error',
      from: { path: '^src/system/errors[.]ts$' },
      to: {},
    },
    {
      name: 'nothing-imports-cli',
      severity: 'error',
      from: { pathNot: '^src/cli/' },
      to: { path: '^src/cli/' },
    },
    {
      name: 'cli-loads-app-on-demand',
      comment: '`wf --help` and a mistyped option need no engine.',
      severity: 'error',
      from: { path: '^src/cli/' },
      to: { path: '^src/app/', dynamic: false, ...VALUE },
    },
    {
      name: 'cli-loads-the-client-on-demand',
      comment: 'Most commands ask no daemon. What is asked for by `import()` may import it as it likes.',
      severity: 'error',
      from: { path: '^src/cli/', pathNot: '^src/cli/run/(remote-[a-z-]+|[a-z-]+-remotely)[.]ts$' },
      to: { path: '^src/(client/|cli/run/(remote-[a-z-]+|[a-z-]+-remotely)[.]ts$)', dynamic: false, ...VALUE },
    },
    {
      name: 'only-serve-loads-the-server',
      severity: 'error',
      from: { path: '^src/cli/', pathNot: '^src/cli/commands/setup/serve-command[.]ts$' },
      to: { path: '^src/server/', ...VALUE },
    },
    {
      name: 'language-reads-the-disk-only-in-load',
      severity: 'error',
      from: { path: '^src/language/', pathNot: '^src/language/load[.]ts$' },
      to: { path: '^(node:)?fs$' },
    },
    {
      name: 'store-uses-the-disk-only-in-files',
      severity: 'error',
      from: { path: '^src/store/', pathNot: '^src/store/files/' },
      to: { path: '^(node:)?fs(/promises)?$' },
    },
    {
      name: 'heavy-packages-are-loaded-on-demand',
      severity: 'error',
      from: {},
      to: {
        path: `(^|/)node_modules/(${HEAVY.join('|')})/`,
        dynamic: false,
        dependencyTypesNot: ['require', 'type-only'],
      },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'every-import-resolves',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Types too, which are gone after compilation.
    tsPreCompilationDeps: true,
    // What no rule asks for takes a fifth of the time.
    moduleSystems: ['es6', 'cjs'],
    skipAnalysisNotInRules: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['node', 'import', 'require', 'default'] },
  },
};
