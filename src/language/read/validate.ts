import { isNumberText } from '#core/step-numbers.ts';
import type { Json, JsonObject } from '#core/workflow.ts';
import { didYouMean, nearNames } from '#system/near-names.ts';
import { type Path, type Problem, type ProblemOptions, pathMark, problem, type Source } from '../diagnostic.ts';
import { isJsonObject, type RawWorkflow } from '../raw.ts';
import type { SchemaError, Validate } from '../schema/generated/validate.cjs';
import { executorTypes, resolve, workflowSchema } from '../schema/schema.ts';
import type { Schema } from '../schema/schema-type.ts';
import { executorAdvice, listHelp, noLimit, refusedValue, rightShape } from './advice.ts';

/** A file that matches the schema, apart from `problems`: everything that did not match was removed from `raw`. */
type Validated = {
  readonly raw: RawWorkflow;
  readonly problems: readonly Problem[];
  /** Maps from which values were removed, so that these values are not reported as missing. */
  readonly damaged: ReadonlySet<unknown>;
  /** Keys removed from the top level. */
  readonly lost: ReadonlySet<string>;
};

/** The schema without required keys of the file. */
const MAY_LACK_STEPS: Schema = { ...workflowSchema, required: [] };

/** Maximum number of errors reported per file. */
const MOST = 200;

/** Checks types and values against the schema, and removes invalid ones. `spellings`: of the keys in the file. */
export function validate(source: Source, value: Json, spellings: ReadonlyMap<string, string>): Validated {
  const problems: Problem[] = [];
  const damaged = new Set<unknown>();
  // The complete validator is loaded only for a file that is not valid.
  const complete = () => require('../schema/generated/validate.cjs') as { readonly validate: Validate };
  const isValid = fits(value, MAY_LACK_STEPS) ? null : complete().validate;
  const errors: readonly SchemaError[] = isValid === null || isValid(value) ? [] : (isValid.errors ?? []);
  const seen = new Set<string>();
  for (const error of errors) {
    if (problems.length === MOST) break;
    const isRequired = error.keyword === 'required';
    const mark = `${error.instancePath}${isRequired ? ` ${String(error.params.missingProperty)}` : ''}`;
    // `steps` may be missing in a base file and in an import; for a root file there is a better message.
    const isMissingSteps = isRequired && error.instancePath === '';
    if (error.keyword === 'if' || isMissingSteps || seen.has(mark)) continue;
    seen.add(mark);
    const path = pathOf(value, error.instancePath);
    problems.push(schemaProblem({ source, path, part: 'value' }, value, subjectOf(path, value, spellings), error));
  }
  const before = isJsonObject(value) ? Object.keys(value) : [];
  for (const error of errors) damage(value, error, damaged);
  const raw = isJsonObject(value) ? value : {};
  const lost = new Set(before.filter((key) => !Object.hasOwn(raw, key)));
  return { raw: raw as RawWorkflow, problems, damaged, lost };
}

function schemaProblem(
  spot: Extract<Problem['spot'], { readonly path: Path }>,
  root: Json,
  subject: string,
  error: SchemaError,
): Problem {
  const { path } = spot;
  const { params } = error;
  const value = valueAt(root, path);
  const wrong = (message: string, options?: ProblemOptions) =>
    problem('wrong-value', spot, `${subject} ${message}`, options);
  const wrongType = (message: string, options: ProblemOptions) =>
    problem('wrong-type', spot, `${subject} must be ${message}`, options);
  const refused = refusedValue(path, value);
  if (refused !== null) {
    const { what, help } = refused;
    return problem('not-supported', spot, `${what} is not supported`, { label: 'not supported', help });
  }
  const isLength = typeof value === 'string' && /Sec$/.test(String(path.at(-1)));
  switch (error.keyword) {
    case 'required':
      return problem('missing-key', { ...spot, part: 'key' }, `${subject} needs "${String(params.missingProperty)}"`);
    case 'type': {
      const expected = typeWords(params.type, path);
      const fixed = fixedNumber(path, value);
      const shape = rightShape(path, value);
      const otherHelp = isLength ? LENGTH : listHelp(path, value);
      return wrongType(`${expected}, not ${fixed === null ? kindOf(value) : 'a variable'}`, {
        label: `expected ${expected}`,
        help: fixed ?? (shape === null ? otherHelp : `Write ${shape}`),
      });
    }
    case 'enum':
    case 'const':
      return enumProblem(error, spot, subject, value);
    case 'pattern':
      // A text in the place of a number that is no variable.
      if (String(params.pattern).startsWith('^\\$')) {
        const help = isLength ? LENGTH : null;
        const label = 'expected a number or a variable';
        return wrongType(`a number, or one variable, not "${String(value)}"`, { label, help });
      }
      // The only other case in the schema: seconds, which may also be a text that a variable completes.
      return wrongType(`a number, not "${String(value)}"`, { label: 'expected a number' });
    case 'exclusiveMinimum':
      return wrong(`must be more than ${String(params.limit)}`);
    case 'minimum':
      return wrong(`must be at least ${String(params.limit)}`, {
        help: params.limit === 0 ? noLimit(path, value) : null,
      });
    case 'maximum':
      return wrong(`must be at most ${String(params.limit)}`);
    default:
      return wrong(`is invalid (${error.keyword})`);
  }
}

function enumProblem(error: SchemaError, spot: Problem['spot'], subject: string, value: Json | undefined): Problem {
  const allowed = (error.params.allowedValues as unknown[]).map(String);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const label = didYouMean(nearNames(text, allowed));
  if (!/\/executor(\/type)?$/.test(error.instancePath)) {
    return problem('wrong-value', spot, `${subject} cannot be "${text}"`, {
      label,
      help: `One of ${allowed.join(', ')}.`,
    });
  }
  const advice = executorAdvice(text);
  if (advice === null) {
    const help = `One of ${executorTypes().join(', ')}.`;
    return problem('unknown-executor', spot, `unknown executor "${text}"`, { label, help });
  }
  return problem('unknown-executor', spot, `executor "${text}" is not supported`, { help: advice });
}

/** `"timeoutSec" in step "fetch"`, `step 3`, `"env" entry 2`, `the file`. */
function subjectOf(path: Path, root: Json, spellings: ReadonlyMap<string, string>): string {
  if (path.length === 0) return 'the file';
  const step = path.length > 1 ? stepLabel(path, root) : '';
  const rest = step === '' ? path : path.slice(2);
  const depth = rest.findLastIndex((part) => typeof part === 'string');
  const key = spellings.get(pathMark(path.slice(0, path.length - rest.length + depth + 1))) ?? rest[depth];
  const last = rest.at(-1);
  const entry = typeof last === 'number' ? `entry ${last + 1} of ` : '';
  if (key === undefined) return step === '' ? 'the file' : step;
  return `${entry}"${key}"${step === '' ? '' : ` in ${step}`}`;
}

/** The name of the step or handler that a path leads to; empty for other paths. */
function stepLabel(path: Path, root: Json): string {
  if (path[0] === 'handlerOn') return `handler "${path[1]}"`;
  if (path[0] !== 'steps') return '';
  const step = valueAt(root, path.slice(0, 2));
  const name = isJsonObject(step) ? (step.name ?? step.id) : undefined;
  if (typeof name === 'string') return `step "${name}"`;
  return typeof path[1] === 'number' ? `step ${path[1] + 1}` : `step "${path[1]}"`;
}

const typeNames: { readonly [type: string]: string } = {
  string: 'text',
  array: 'a list',
  object: 'a map',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
};

/** Keys of which a text is only one variable. */
const NUMBER_KEY =
  /^(?:limit|lines|forks|(?:interval|maxInterval|timeout|delay)Sec|backoff|jitter|exitCode|maxConcurrent|maxActiveSteps|maxOutputSize|successStatusCodes)$/;

function typeWords(type: unknown, path: Path): string {
  const all: readonly string[] = Array.isArray(type) ? type : String(type).split(',');
  const isNumber = NUMBER_KEY.test(String(path.findLast((part) => typeof part === 'string')));
  const types = isNumber ? all.filter((name) => name !== 'string') : all;
  // A missing value is never an error, so null is not listed.
  const words = types.filter((name) => name !== 'null').map((name: string) => typeNames[name] ?? name);
  return words.length === 1 ? String(words[0]) : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

function kindOf(value: Json | undefined): string {
  if (value === null || value === undefined) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  const text = JSON.stringify(value);
  return text.length > 40 ? 'text' : text;
}

/** A JSON pointer as a path: with numbers for the indexes of lists. */
function pathOf(root: Json, pointer: string): Path {
  const path: (string | number)[] = [];
  let at: Json | undefined = root;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.includes('~') ? part.replaceAll('~1', '/').replaceAll('~0', '~') : part;
    const step: string | number = Array.isArray(at) ? Number(key) : key;
    path.push(step);
    at = child(at, step);
  }
  return path;
}

function valueAt(root: Json, path: Path): Json | undefined {
  return path.reduce<Json | undefined>(child, root);
}

function child(value: Json | undefined, step: string | number): Json | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  return (value as { readonly [key: string]: Json })[step];
}

/** Removes the step, or the key of the step or of the top level, that contains an invalid value. */
function damage(root: Json, error: SchemaError, damaged: Set<unknown>): void {
  const path = pathOf(root, error.instancePath);
  const depth = path[0] === 'steps' || path[0] === 'handlerOn' ? 3 : 1;
  const last = Math.min(depth, path.length) - 1;
  const holder = valueAt(root, path.slice(0, last));
  const key = path[last];
  if (typeof holder !== 'object' || holder === null || key === undefined) return;
  damaged.add(holder);
  const map = holder as Record<string, Json>;
  if (path[0] === 'steps' && path.length === 2) map[key] = null;
  else delete map[key];
}

const START = 'The daemon reads it before a run has variables';
const HISTORY = 'It is read after the run, to remove old runs. Write a number.';
const RETRY = 'The daemon reads it after the run, to retry it.';
const WRITE = 'Write a number.';
const LENGTH = 'Write seconds, or a length such as 90s or 2d12h.';

/** Numbers that no variable can give, by their path, and what to write. */
const reasons: { readonly [path: string]: string } = {
  maxActiveRuns: `${START}. To limit the steps by a variable, write "maxActiveSteps".`,
  maxConcurrent: `${START}. ${WRITE}`,
  histRetentionDays: HISTORY,
  histRetentionRuns: HISTORY,
  lockTimeoutSec: `It limits a wait before the attempt or the run begins. ${LENGTH}`,
  'artifacts.retentionDays': HISTORY.replace('runs', 'files'),
  'artifacts.maxMiB': `It limits all files that a run keeps. ${WRITE}`,
  restartWaitSec: `It is read between two runs. ${LENGTH}`,
  MaxCleanUpTimeSec: `It is also needed to end a run that has no variables, or lost its process. ${LENGTH}`,
  'retryPolicy.limit': `${RETRY} ${WRITE}`,
  'retryPolicy.intervalSec': `${RETRY} ${LENGTH}`,
  'retryPolicy.maxIntervalSec': `${RETRY} ${LENGTH}`,
  'retryPolicy.backoff': `${RETRY} Write true, or a number above 1.`,
  consoleSize: `The size of a terminal takes no variables. Write whole numbers.`,
  'container.healthcheck.retries': `The settings of a health check take no variables. ${WRITE}`,
};

/** Why the number at a path cannot be a variable, and what to write; null for other keys and values. */
function fixedNumber(path: Path, value: Json | undefined): string | null {
  if (!isNumberText(value)) return null;
  const names = path.filter((part) => typeof part === 'string').join('.');
  const [key] = /container\.healthcheck\.\w+$|consoleSize$/.exec(names) ?? [names];
  return reasons[key] ?? null;
}

/**
 * Whether a value that was read by a schema is valid. The complete validator (`generated/validate.cjs`) says why it is not;
 * it takes longer to load than nearly all files to check. Unknown keys, and alternatives (`anyOf`), are for others to
 * check, as they are for that validator.
 */
export function fits(value: Json, schema: Schema): boolean {
  if (typeof value === 'string' && takesAnyText(schema)) return true;
  const rule = schema.$ref === undefined ? schema : resolve(schema);
  const { type, enum: allowed, const: only, pattern, allOf } = rule;
  if (type !== undefined && !isOfType(value, type)) return false;
  if (allowed !== undefined && !allowed.includes(value)) return false;
  if (only !== undefined && value !== only) return false;
  if (typeof value === 'string') {
    if (pattern !== undefined && !new RegExp(pattern, 'u').test(value)) return false;
  } else if (typeof value === 'number') {
    if (!isInRange(value, rule)) return false;
  } else if (typeof value === 'object' && value !== null) {
    const { items } = rule;
    const isList = Array.isArray(value);
    if (isList && items !== undefined && !value.every((item) => fits(item, items))) return false;
    if (!isList && !keysFit(value as JsonObject, rule)) return false;
  }
  const meets = ({ if: condition = {}, then = {} }: Conditions[number]) => !fits(value, condition) || fits(value, then);
  return allOf === undefined || conditionsOf(allOf).every(meets);
}

const takingAnyText = new Map<Schema, boolean>();

/** Whether every text fits a schema. Most values of a file are texts with such a schema. */
function takesAnyText(schema: Schema): boolean {
  const kept = takingAnyText.get(schema);
  if (kept !== undefined) return kept;
  const { type = 'string', enum: allowed, const: only, pattern, allOf } = resolve(schema);
  const isOpen = [allowed, only, pattern, allOf].every((keyword) => keyword === undefined);
  const takesAny = isOpen && [type].flat().includes('string');
  takingAnyText.set(schema, takesAny);
  return takesAny;
}

function isOfType(value: Json, type: string | readonly string[]): boolean {
  const own = typeOf(value);
  if (typeof type === 'string') return own === type || (type === 'integer' && Number.isInteger(value));
  return type.includes(own) || (type.includes('integer') && Number.isInteger(value));
}

function typeOf(value: Json): string {
  if (typeof value !== 'object') return typeof value;
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : 'object';
}

function isInRange(value: number, { minimum, maximum, exclusiveMinimum }: Schema): boolean {
  if (minimum !== undefined && value < minimum) return false;
  if (maximum !== undefined && value > maximum) return false;
  return exclusiveMinimum === undefined || value > exclusiveMinimum;
}

function keysFit(map: JsonObject, { properties, additionalProperties, required }: Schema): boolean {
  if (required?.some((key) => map[key] === undefined)) return false;
  for (const key in map) {
    const isKnown = properties !== undefined && Object.hasOwn(properties, key);
    const ofKey = isKnown ? properties[key] : additionalProperties;
    if (typeof ofKey === 'object' && !fits(map[key] ?? null, ofKey)) return false;
  }
  return true;
}

type Conditions = NonNullable<Schema['allOf']>;

const conditionsOfRules = new Map<Conditions, Conditions>();

/** The conditions to check: `with`, which other conditions are about, is replaced by `executor` before. */
function conditionsOf(all: Conditions): Conditions {
  const kept = conditionsOfRules.get(all);
  if (kept !== undefined) return kept;
  const conditions = all.filter((part) => part.if !== undefined && part.then?.properties?.['with'] === undefined);
  conditionsOfRules.set(all, conditions);
  return conditions;
}
