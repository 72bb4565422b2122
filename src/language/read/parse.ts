import type { Alias, ParsedNode, Parser, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import { uses } from '#fast/accelerators.ts';
import type { DiagnosticCode } from '../codes.ts';
import { type Problem, type ProblemOptions, problem, type Source } from '../diagnostic.ts';
import { DEEPEST, MOST_TOKENS, type Node, type ParseResult, type YamlDocument } from './node.ts';
import { parsePlain } from './plain/parse-plain.ts';
import { indicator, syntaxProblems, type YamlPackage, yamlPackage } from './syntax-problem.ts';

/** Parses one YAML document: in the form that most files have at once, any other with the package `yaml`. */
export function parse(source: Source): ParseResult {
  const [first, second] = parseDocuments(source, 2);
  if (first === undefined || second === undefined || second.document === null) return second ?? first ?? NOTHING;
  return tooMany(source, second.document, 1);
}

const NOTHING: ParseResult = { document: null, problems: [] };

/** Parses the documents of a text, at most `most` of them; a last result with problems ends the list. */
export function parseDocuments(source: Source, most: number): readonly ParseResult[] {
  const contents = uses('plain-yaml') ? parsePlain(source.text) : null;
  if (contents === null) return parseYaml(source, most);
  return [{ document: { contents, unknownTags: [], start: 0 }, problems: [] }];
}

/** Reports a document after the first `most` ones. */
export function tooMany(source: Source, { start }: YamlDocument, most: number): ParseResult {
  const spot = { source, range: [start, start + 3] } as const;
  return most === 1
    ? failed([
        problem('several-documents', spot, 'the file contains more than one document', {
          label: 'a second document starts here',
          help: 'Keep one workflow in a file.',
        }),
      ])
    : failed([
        problem('several-documents', spot, `the file contains more than ${most} documents`, {
          label: `document ${most + 1} starts here`,
          help: 'Move some of them to files of their own.',
        }),
      ]);
}

/** Maximum number of syntax errors collected; parsing stops after it. Few are shown, and each costs time. */
const MOST_ERRORS = 20;

/** Maximum nesting of lists and maps used as keys, which no workflow has: each level is scanned again. */
const DEEPEST_KEY = 5;

/** Marks a scalar in the lexer's stream: the token after it is text, not an indicator. */
const SCALAR = '\x1f';

/** Stops the parser at the first problem found in the tokens. */
class Refused extends Error {
  readonly problem: Problem;

  constructor(found: Problem) {
    super(found.message);
    this.problem = found;
  }
}

/**
 * Parses YAML documents with the package `yaml`. Tokens are checked on their way from the lexer to the parser, because
 * the next stage is recursive: it overflows the stack on deep nesting and needs exponential time for keys inside keys.
 * The lexer and the parser themselves are linear.
 */
export function parseYaml(source: Source, most: number): readonly ParseResult[] {
  const results: ParseResult[] = [];
  return withoutStackTraces(() => {
    try {
      for (const result of documentsOf(source, yamlPackage())) {
        results.push(result);
        if (result.document === null || results.length === most) break;
      }
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      results.push(failed([error.problem]));
    }
    return results;
  });
}

function* documentsOf(source: Source, yaml: YamlPackage): Generator<ParseResult> {
  const composer = new yaml.Composer<ParsedNode>({
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
    // Tags with values other than text, numbers, lists and maps are reported as unknown.
    resolveKnownTags: false,
  });
  let end = 0;
  for (const document of composer.compose(guardedTokens(source, yaml))) {
    if (document.errors.length > 0) yield failed(syntaxProblems(source, document.errors));
    // A document starts with its `---`, or after the `...` of the previous one with its content.
    const begin = document.contents?.range[0] ?? document.range[0];
    const marker = source.text.lastIndexOf('---', begin);
    const tags = document.warnings.filter(({ code }) => code === 'TAG_RESOLVE_FAILED');
    const contents = document.contents === null ? null : toNode(document.contents);
    const start = marker >= end ? marker : begin;
    yield { document: { contents, unknownTags: tags.map(({ pos }) => pos), start }, problems: [] };
    end = document.range[1];
  }
}

function failed(problems: readonly Problem[]): ParseResult {
  return { document: null, problems };
}

function* guardedTokens(source: Source, yaml: YamlPackage): ReturnType<Parser['parse']> {
  const refused = (code: DiagnosticCode, at: number, message: string, options: ProblemOptions) =>
    new Refused(problem(code, { source, range: [at, at + 1] }, message, options));
  const parser = new yaml.Parser();
  const keyDepth = keyDepthCounter();
  let before = '';
  let errors = 0;
  let count = 0;
  for (const lexeme of new yaml.Lexer().lex(source.text)) {
    const { offset } = parser;
    if (before !== SCALAR && lexeme === '?') {
      throw refused('explicit-key', offset, 'a key written with "?" is not supported', {
        label: 'write "key: value"',
        help: 'Put text that starts with a question mark in quotes.',
      });
    }
    if (before !== SCALAR && lexeme === '!') {
      // YAML drops a lone `!`, which turns `! test -f x` into its opposite.
      const { message, label, help } = indicator(offset, '!');
      throw refused('unknown-tag', offset, message, { label, help });
    }
    if (before !== SCALAR && keyDepth(lexeme) > DEEPEST_KEY) {
      const help = 'Put text with brackets or braces in quotes.';
      throw refused('complex-key', offset - 1, 'a key must be text', { help });
    }
    if (++count > MOST_TOKENS) {
      const message = `the file has more than ${MOST_TOKENS} tokens, the limit for workflow files`;
      const help = 'Move steps to files of their own ("imports").';
      throw new Refused(problem('file-too-large', { source }, message, { help }));
    }
    before = lexeme;
    for (const token of parser.next(lexeme)) {
      if (token.type === 'error') errors++;
      yield token;
    }
    if (parser.stack.length > DEEPEST + 1) {
      const message = `maps and lists are nested more than ${DEEPEST} levels deep`;
      throw refused('nesting-too-deep', parser.offset - 1, message, { label: 'too deep' });
    }
    if (errors > MOST_ERRORS) break;
  }
  yield* parser.end();
}

/** Stack traces of the parser's errors take most of the time for an invalid file. */
function withoutStackTraces<T>(work: () => T): T {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return work();
  } finally {
    Error.stackTraceLimit = before;
  }
}

/** Returns for each token how deep the bracketed key that ends there is: 1 at the colon of `[a]: b`, 0 for none. */
export function keyDepthCounter(): (lexeme: string) => number {
  /** For each open bracket, the depth of the keys in it. */
  const open: number[] = [];
  /** The depth for the bracket that was just closed; null if another token followed. */
  let closed: number | null = null;
  const keep = (depth: number): number => {
    if (open.length > 0) open.push(Math.max(open.pop() ?? 0, depth));
    return depth;
  };
  return (lexeme) => {
    if (lexeme === ':' && closed !== null) {
      const depth = keep(closed + 1);
      closed = null;
      return depth;
    }
    if (lexeme === ']' || lexeme === '}') closed = keep(open.pop() ?? 0);
    else if (lexeme.trim() !== '' && !lexeme.startsWith('#')) closed = null;
    if (lexeme === '[' || lexeme === '{') open.push(0);
    return 0;
  };
}

/** Converts a node of the package `yaml`. Recursive: the nesting of the text was limited before. */
function toNode(node: ParsedNode | Alias | Scalar | YAMLMap | YAMLSeq): Node {
  const { isAlias, isMap, isSeq } = yamlPackage();
  const [start = 0, end = 0] = node.range ?? [];
  const range = { start, end, anchor: isAlias(node) ? undefined : node.anchor };
  if (isAlias(node)) return { kind: 'alias', name: node.source, ...range };
  const below = (part: unknown) => (part === null ? null : toNode(part as ParsedNode));
  if (isMap(node)) {
    const entries = node.items.map(({ key, value }) => ({ key: below(key), value: below(value) }));
    return { kind: 'map', entries, ...range };
  }
  if (isSeq(node)) return { kind: 'list', items: node.items.map((item) => toNode(item as ParsedNode)), ...range };
  const { value, source, type } = node;
  return { kind: 'scalar', value, text: source ?? String(value ?? ''), isPlain: type === 'PLAIN', ...range };
}
