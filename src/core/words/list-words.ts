import { allSteps, type Step, type Template, type Workflow } from '../workflow.ts';
import { expandOwn } from './interpolate.ts';
import { PathProblem } from './json-path.ts';
import { listProblem, nestedMessage } from './nested-shells.ts';
import { stepNames } from './own-names.ts';
import { shellCodeIndex } from './shell-launch.ts';
import { type PathlessCode, withoutPaths } from './shell-paths.ts';
import { resultNames } from './step-results.ts';

/** The variables and names for reading the words of a list. */
type ListContext = {
  readonly workflow: Workflow;
  readonly step: Step;
  readonly params: readonly string[];
  readonly scope: (name: string) => string | undefined;
};

/**
 * The words of a command given as a list. Only names of the workflow are replaced: the `$i` of a loop and the `$2` of
 * an awk program are not. The code of a shell (`[sh, -c, CODE]`) stays as written: the shell has the variables in its
 * environment, and no value may become code.
 */
export function listWords(command: readonly Template[], context: ListContext): readonly string[] {
  return listCommand(command, context).words;
}

/** The words, with variables in place of the JSON paths in the code of a shell. Throws a `PathProblem`. */
export function listCommand(
  command: readonly Template[],
  context: ListContext,
): { readonly words: readonly string[]; readonly env: PathlessCode['env'] } {
  const own = isOwn(context);
  const problem = listProblem(command, (name) => own(name, true));
  if (problem !== null && problem.kind !== 'unknown') throw new PathProblem(nestedMessage(problem));
  const index = shellCodeIndex(command);
  const { code, env } = withoutPaths(command[index] ?? '', context.scope);
  const words = command.map((word, at) => (at === index ? code : expandOwn(word, context.scope, own)));
  return { words, env };
}

/** Writes words as a list that `listWords` reads back unchanged. */
export function wordsAsList(words: readonly string[], context: Omit<ListContext, 'scope'>): readonly Template[] {
  const own = stepNames(context);
  const code = shellCodeIndex(words);
  return words.map((word, index) => (index === code ? word : escapeOwn(word, own)));
}

function isOwn(context: Omit<ListContext, 'scope'>): (name: string, hasPath: boolean) => boolean {
  const own = stepNames(context);
  const results = new Set(allSteps(context.workflow).flatMap(resultNames));
  return (name, hasPath) => own.has(name) || (hasPath && results.has(name));
}

function escapeOwn(word: string, own: ReadonlySet<string>): Template {
  return word.replace(/\$(?=\{?([A-Za-z_]\w*))/g, (dollar, name: string) => (own.has(name) ? `\\${dollar}` : dollar));
}
