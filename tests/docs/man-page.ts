import type { Argument, Command, Option } from 'commander';
import { settings, variableOf } from '#config/settings.ts';

/** Options that every command takes, listed once. */
const common = ['--dags', '--color', '--no-color', '--help'];

const exitStatus: readonly (readonly [string, string])[] = [
  [
    '0',
    'The run succeeded; failures that continueOn tolerates do not change that. For commands that run nothing: success.',
  ],
  ['1', 'The run failed.'],
  ['2', 'The command line or the file is wrong, or a file is missing; nothing was run.'],
  ['3', "The workflow's own precondition is not met."],
  ['124', 'The workflow exceeded its time limit.'],
  ['129, 130, 143', 'The run was stopped: by SIGHUP, by SIGINT, by SIGTERM or wf stop.'],
];

const environment: readonly (readonly [string, string])[] = [
  ['WF_HOME', 'A directory that holds everything: config.yaml, base.yaml, dags/, runs/ and the cache.'],
  [
    'XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_CACHE_HOME',
    'The locations of these without WF_HOME, each in a directory wf.',
  ],
  ['NO_COLOR, FORCE_COLOR', 'Enable or disable colours. A flag takes precedence.'],
  ['CI, GITHUB_ACTIONS, TERM', 'These select the reporter.'],
  ['COLUMNS, LINES', 'The size of a terminal that does not report it.'],
  ['LC_ALL, LC_CTYPE, LANG', 'Whether the terminal shows UTF-8.'],
  ['DOCKER_HOST', 'The address of the Docker daemon.'],
  ['WF_LOG_FORWARDING_*', 'One for each key of the block logForwarding in config.yaml.'],
];

const stepEnvironment: readonly (readonly [string, string])[] = [
  ['WF_RUN_ID, WF_WORKFLOW', 'The id of the run and the name of its workflow.'],
  [
    'WF_STEP, WF_ATTEMPT, WF_LOG_FILE',
    'The name of the step, the number of the attempt, the file that gets its output.',
  ],
  [
    'WF_SCHEDULED_FOR, WF_SCHEDULED_DATE, WF_PREVIOUS_FOR',
    'The moment for which the run was started, its day, and the last earlier moment whose run succeeded.',
  ],
  ['WF_OUTPUT_FILE', 'In a step with outputs: the file into which it writes them.'],
  [
    'WF_ARTIFACTS_DIR',
    'In a step with artifacts, or that mentions it: the directory whose files are kept with the run.',
  ],
  ['WF_STATUS, WF_FAILED_STEP, WF_ERROR', 'In handlers: the status of the run, the first failed step, and its error.'],
  ['WF_WAITING_STEPS', 'In the handler wait: the steps that wait for approval, with commas between them.'],
];

const files: readonly (readonly [string, string])[] = [
  ['~/.config/wf/config.yaml', 'Settings; wf config prints them all.'],
  ['~/.config/wf/base.yaml', 'Defaults for every workflow.'],
  ['~/.config/wf/dags/', 'The workflows directory.'],
  ['.wf.yaml', 'Settings of a project.'],
  ['~/.local/state/wf/runs/', 'Runs and the logs of their steps, one directory per run.'],
];

const description = `A workflow is a YAML file of steps and their dependencies. wf runs steps in parallel as soon as their dependencies have finished,
retries failed ones as the file says, keeps their output, and reports the result by its exit code. It needs no database, no broker and
no scheduler.`;

/** The manual page of the program, in the man macros of roff. */
export function manPage(program: Command, version: string): string {
  const commands = program.commands.filter((command) => !isHidden(program, command));
  const first = commands[0];
  const lines = [
    `.TH WF 1 "" "wf ${version}" "User Commands"`,
    '.SH NAME',
    `wf \\- ${roff('runs workflows: directed acyclic graphs of steps, written in a YAML file')}`,
    '.SH SYNOPSIS',
    '.B wf',
    '.I command',
    '[\\fIoption\\fR ...] [\\fIargument\\fR ...]',
    '.SH DESCRIPTION',
    roff(description),
    '.SH COMMANDS',
    ...commands.flatMap((command) => commandLines(command)),
    '.SH OPTIONS OF EVERY COMMAND',
    ...(first === undefined ? [] : visibleOptions(first).filter(isCommon).flatMap(optionLines)),
    '.SH EXIT STATUS',
    ...exitStatus.flatMap(([code, meaning]) => entry(bold(code), meaning)),
    '.SH ENVIRONMENT',
    ...environment.flatMap(([name, meaning]) => entry(bold(name), meaning)),
    ...Object.entries(settings).flatMap(([key, { about }]) => entry(bold(variableOf(key)), `${sentence(about)}.`)),
    '.PP',
    roff('Steps get these variables:'),
    ...stepEnvironment.flatMap(([name, meaning]) => entry(bold(name), meaning)),
    '.SH FILES',
    ...files.flatMap(([path, meaning]) => entry(italic(path), meaning)),
    '.SH EXAMPLES',
    ...example('wf init && wf run workflow.yaml', 'A first workflow, and a run of it:'),
    ...example("wf run deploy.yaml -- ENV=production 'NOTE=two words'", 'A run with parameters:'),
    ...example('wf retry @failed', 'Retry the last failed run:'),
    '.SH SEE ALSO',
    roff('wf help <command> prints the options of a command, wf schema <key> explains a key of the file.'),
  ];
  return `${lines.join('\n')}\n`;
}

function isHidden(program: Command, command: Command): boolean {
  return !program.createHelp().visibleCommands(program).includes(command);
}

function visibleOptions(command: Command): readonly Option[] {
  return command.createHelp().visibleOptions(command);
}

function isCommon({ long }: Option): boolean {
  return common.includes(long ?? '');
}

function commandLines(command: Command): readonly string[] {
  const names = [command.name(), ...command.aliases()].map((name) => bold(`wf ${name}`)).join(', ');
  const usage = command.registeredArguments.map(argumentUsage).join(' ');
  return [
    `.SS "${[names, usage].filter((text) => text !== '').join(' ')}"`,
    roff(`${sentence(command.description())}.`),
    ...command.registeredArguments.flatMap(argumentLines),
    ...visibleOptions(command)
      .filter((option) => !isCommon(option))
      .flatMap(optionLines),
  ];
}

function argumentUsage(argument: Argument): string {
  const name = `${italic(argument.name())}${argument.variadic ? ' ...' : ''}`;
  return argument.required ? name : `[${name}]`;
}

function argumentLines(argument: Argument): readonly string[] {
  return argument.description === '' ? [] : entry(italic(argument.name()), withFacts(argument.description, argument));
}

function optionLines(option: Option): readonly string[] {
  return entry(bold(option.flags), withFacts(option.description, option));
}

type Facts = Pick<Option, 'argChoices' | 'defaultValue' | 'defaultValueDescription'>;

function withFacts(text: string, { argChoices, defaultValue, defaultValueDescription }: Facts): string {
  const fallback = defaultValueDescription ?? (isTold(defaultValue) ? String(defaultValue) : undefined);
  const facts = [
    ...(argChoices === undefined ? [] : [`One of ${argChoices.join(', ')}.`]),
    ...(fallback === undefined ? [] : [`Default: ${fallback}.`]),
  ];
  return [`${sentence(text)}.`, ...facts].join(' ');
}

/** A setting that is on by default is documented by the option that switches it off. */
function isTold(value: unknown): boolean {
  return value !== undefined && typeof value !== 'boolean' && !(Array.isArray(value) && value.length === 0);
}

function entry(tag: string, text: string): readonly string[] {
  return ['.TP', tag, roff(text)];
}

function example(command: string, text: string): readonly string[] {
  return ['.PP', roff(text), '.PP', '.RS 4', '.nf', roff(command), '.fi', '.RE'];
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1).replace(/\.$/, '');
}

function bold(text: string): string {
  return `\\fB${escaped(text)}\\fR`;
}

function italic(text: string): string {
  return `\\fI${escaped(text)}\\fR`;
}

/** Text of a paragraph: no line of it may begin like a request. */
function roff(text: string): string {
  return escaped(text).replace(/^(?=[.'])/gm, '\\&');
}

/** A plain `-` would be set as a hyphen, and a quote would end an argument. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('"', '\\(dq')
    .replaceAll("'", '\\(aq')
    .replaceAll('~', '\\(ti')
    .replaceAll('`', '\\(ga');
}
