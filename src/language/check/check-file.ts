import { didYouMean, nearNames } from '#system/near-names.ts';
import { patternProblem, TOO_LARGE } from '#system/pattern.ts';
import { parameterNames } from '../build/functions.ts';
import { type Path, type Problem, type ProblemOptions, problem } from '../diagnostic.ts';
import {
  entriesAt,
  type RawCondition,
  type RawConditions,
  type RawDotenv,
  type RawNotification,
  textsIn,
  VARIABLE_NAME,
} from '../raw.ts';
import {
  type ActionEntry,
  actionEntries,
  defaultsEntries,
  type SpecFile,
  type StepEntry,
  spotIn,
  stepEntries,
} from '../read/spec-file.ts';
import { scheduleProblems } from '../schedule-entries.ts';
import { actionProblems, defaultsProblems, envProblems } from './check-action.ts';
import { nameSpot } from './check-graph.ts';
import { runLockProblems } from './check-locks.ts';
import { paramProblems } from './check-params.ts';
import { runSelectorProblems } from './check-selectors.ts';
import { sharedContainerProblems } from './check-step-kinds.ts';

/** Maximum number of invalid parameter names reported per function. */
const MOST_NAMES = 10;

/** Checks the meaning of one file, without the files it belongs with. */
export function fileProblems(file: SpecFile): Problem[] {
  const { raw } = file;
  return [
    ...workflowNameProblems(file),
    ...envProblems(file, ['env'], raw.env),
    ...paramProblems(file),
    ...dotenvProblems(file),
    ...conditionProblems(file),
    ...comparisonProblems(file),
    ...sharedContainerProblems(file),
    ...runLockProblems(file),
    ...runSelectorProblems(file),
    ...scheduleProblems(file),
    ...notificationProblems(file),
    ...functionNameProblems(file),
    ...stepEntries(file).flatMap(nameProblems),
    ...actionEntries(file).flatMap(actionProblems),
    ...defaultsEntries(file).flatMap(defaultsProblems),
  ];
}

function workflowNameProblems(file: SpecFile): Problem[] {
  if (file.raw.name?.trim() !== '') return [];
  const help = 'Without "name", the workflow is named after its file.';
  return [problem('invalid-name', spotIn(file, ['name']), 'the name of the workflow is empty', { help })];
}

function nameProblems(entry: StepEntry): Problem[] {
  const { name } = entry;
  if (name === null) return [];
  if (name.trim() === '') return [problem('invalid-name', nameSpot(entry), 'the name of a step is empty')];
  if (!name.startsWith('handlerOn.')) return [];
  const help = 'Names that start with "handlerOn." are reserved for handlers.';
  return [problem('reserved-name', nameSpot(entry), `a step cannot be named "${name}"`, { help })];
}

function dotenvProblems(file: SpecFile): Problem[] {
  return entriesAt<RawDotenv>(file.raw.dotenv, ['dotenv']).flatMap(({ path: at, entry }) => {
    const text = typeof entry === 'string' ? entry : entry.path;
    if (text === undefined || text.trim() !== '') return [];
    const path = typeof entry === 'string' ? at : [...at, 'path'];
    const help = 'Name a file, or remove the entry.';
    return [problem('wrong-value', spotIn(file, path), 'the path of a dotenv file is empty', { help })];
  });
}

function functionNameProblems(file: SpecFile): Problem[] {
  return (file.raw.functions ?? []).flatMap(({ params }, index) => {
    const wrong = parameterNames(params).filter((name) => !VARIABLE_NAME.test(name));
    // Prose in place of names does not get a message for each of its words.
    return wrong.slice(0, MOST_NAMES).map((name) => {
      const message = `"${name}" is not the name of a parameter`;
      return problem('invalid-name', spotIn(file, ['functions', index, 'params']), message);
    });
  });
}

/** A condition that compares a variable as shells, CI systems or programming languages do: a value that is no program. */
const COMPARISON = /^\s*("?)(\$(?:[A-Za-z_]\w*|\d|\{[A-Za-z_\d][^{}]*\}))\1\s*(=~|={1,3}|!=|<=?|>=?)\s*("?)(.*?)\4\s*$/;

/** Reports conditions such as `$ENV == production`: as a command, the value of the variable would be a program. */
function comparisonProblems(file: SpecFile): Problem[] {
  return [
    ...comparisonsIn(file, ['preconditions'], file.raw.preconditions),
    ...[...actionEntries(file), ...defaultsEntries(file)].flatMap(({ path, raw }) =>
      raw.preconditions === undefined ? [] : comparisonsIn(file, [...path, 'preconditions'], raw.preconditions),
    ),
  ];
}

function comparisonsIn(file: SpecFile, path: Path, conditions: RawConditions | undefined): Problem[] {
  return entriesAt<RawCondition>(conditions, path).flatMap(({ path: at, entry: condition }) => {
    if (typeof condition !== 'string' && condition.expected !== undefined) return [];
    const text = typeof condition === 'string' ? condition : (condition.condition ?? '');
    // The expression takes quadratic time for many blanks, and a comparison is short.
    const [, , variable, operator = '', , value = ''] = text.length > 1000 ? [] : (COMPARISON.exec(text) ?? []);
    if (variable === undefined) return [];
    const spot = spotIn(file, typeof condition === 'string' ? at : [...at, 'condition']);
    const message = `"${text.trim()}" is a command whose program is the value of ${variable}`;
    return [problem('wrong-value', spot, message, { help: comparison(variable, operator, value) })];
  });
}

/** The right form of a comparison. */
function comparison(variable: string, operator: string, value: string): string {
  const expected = JSON.stringify(value);
  switch (operator) {
    case '=~':
      return `Write: {condition: "${variable}", expected: ${JSON.stringify(`re:${value}`)}}`;
    case '!=':
      return `Write: {condition: "${variable}", expected: ${expected}, negate: true}`;
    case '<':
    case '<=':
    case '>':
    case '>=': {
      const name = { '<': '-lt', '<=': '-le', '>': '-gt', '>=': '-ge' }[operator];
      return `Write: test "${variable}" ${name} ${value}`;
    }
    default:
      return `Write: {condition: "${variable}", expected: ${expected}}`;
  }
}

type Expected = { readonly path: Path; readonly pattern: string };

/** Reports invalid regular expressions after `re:` in the conditions of a file and of its steps and handlers. */
function conditionProblems(file: SpecFile): Problem[] {
  const all = [
    ...patternsIn(['preconditions'], file.raw.preconditions),
    ...[...actionEntries(file), ...defaultsEntries(file)].flatMap(actionPatterns),
  ];
  const problems: Problem[] = [];
  for (const { path, pattern } of all) {
    const why = patternProblem(pattern);
    if (why === TOO_LARGE) {
      const help = 'Shorten them, or reduce the repetitions in "{...}".';
      const message = 'this regular expression and those before it are too large to check';
      return [...problems, problem('invalid-pattern', spotIn(file, path), message, { help })];
    }
    const help = 'Patterns have the syntax of RE2: no backreferences and no look-around.';
    const message = `"re:${pattern}" is not a regular expression: ${why}`;
    if (why !== null) problems.push(problem('invalid-pattern', spotIn(file, path), message, { help }));
  }
  return problems;
}

function actionPatterns({ path, raw: { preconditions, repeatPolicy, continueOn } }: ActionEntry): readonly Expected[] {
  // Most steps have none of them.
  if (preconditions === undefined && repeatPolicy === undefined && continueOn === undefined) return [];
  const output = typeof continueOn === 'string' ? undefined : continueOn?.output;
  return [
    ...patternsIn([...path, 'preconditions'], preconditions),
    ...patternsIn([...path, 'repeatPolicy'], repeatPolicy),
    ...textsIn(output, [...path, 'continueOn', 'output']).flatMap(patternAt),
  ];
}

function patternsIn(path: Path, conditions: RawConditions | undefined): Expected[] {
  return entriesAt<RawCondition>(conditions, path).flatMap(({ path: at, entry }) => {
    const expected = typeof entry === 'string' ? undefined : entry.expected;
    return patternAt({ path: [...at, 'expected'], text: expected ?? '' });
  });
}

function patternAt({ path, text }: { readonly path: Path; readonly text: string }): Expected[] {
  return text.startsWith('re:') ? [{ path, pattern: text.slice('re:'.length) }] : [];
}

const EVENTS = ['failure', 'success', 'cancel', 'skipped', 'waiting', 'late', 'recovery', 'always'];
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const PRIORITY = /^(?:[1-5]|min|low|default|high|max|urgent)$/;
const PRIORITY_HELP = 'One of min, low, default, high, max, or a number from 1 to 5.';

/** Keys that only some services have. */
const OWN_KEYS = [
  { keys: ['method', 'headers', 'body', 'secret'], services: ['webhook'] },
  { keys: ['priority', 'tags', 'token'], services: ['ntfy'] },
  { keys: ['attach'], services: ['webhook', 'discord'] },
] as const;

/** Checks `notify` as far as it has no variables. */
function notificationProblems(file: SpecFile): Problem[] {
  return entriesAt<RawNotification>(file.raw.notify, ['notify']).flatMap(({ path, entry }) => {
    const { on, priority = '$', headers = {} } = entry;
    const wrong = (key: Path, message: string, options: ProblemOptions, part?: 'key') =>
      problem('wrong-value', spotIn(file, [...path, ...key], part), message, options);
    const events = textsIn(on, ['on']).filter(({ text }) => !EVENTS.includes(text));
    const isPriority = priority.includes('$') || PRIORITY.test(priority);
    const url = urlMistake(entry);
    return [
      ...events.map(({ path: key, text: event }) => {
        const label = () => didYouMean(nearNames(event, new Set(EVENTS)));
        return wrong(key, `"on" cannot be "${event}"`, { label, help: `One or several of ${EVENTS.join(', ')}.` });
      }),
      ...(url === null ? [] : [wrong(['url'], url.message, { help: url.help })]),
      ...(isPriority ? [] : [wrong(['priority'], `"priority" cannot be "${priority}"`, { help: PRIORITY_HELP })]),
      ...Object.keys(headers).flatMap((name) => {
        if (HEADER_NAME.test(name)) return [];
        const help = 'For example: Authorization.';
        return [wrong(['headers', name], `"${name}" is not the name of a header`, { help })];
      }),
      ...OWN_KEYS.flatMap(({ keys, services }) => {
        if (entry.to === undefined || services.some((service) => service === entry.to)) return [];
        const one = services.map((service) => `"to: ${service}"`).join(' or ');
        const foreign = keys.filter((key) => entry[key] !== undefined);
        const help = `Remove it, or write ${one}.`;
        return foreign.map((key) => wrong([key], `"${key}" is only for ${one}`, { help }, 'key'));
      }),
    ];
  });
}

function urlMistake({ to, url = '$' }: RawNotification): { readonly message: string; readonly help: string } | null {
  if (url.includes('$')) return null;
  const parsed = URL.canParse(url.trim()) ? new URL(url.trim()) : null;
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
    return { message: '"url" must begin with http:// or https://', help: 'For example: "$SLACK_URL".' };
  }
  if (to !== 'ntfy' || /[^/]/.test(parsed.pathname)) return null;
  return { message: '"url" has no topic', help: 'For example: https://ntfy.sh/my-topic' };
}
