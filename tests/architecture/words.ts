import ts from 'typescript';

/** One use of a phrase that the project avoids. */
export type Use = { readonly file: string; readonly line: number; readonly phrase: string };

/** Phrases as regular expressions, where a space matches any white space. `docs/contributing/words.md` has better ones. */
const avoided: readonly string[] = [
  'told',
  'nobody',
  'somebody',
  'anybody',
  'whoever',
  '(is|are|was|were) over',
  'go(es|ing)? on',
  'in a circle',
  'that is none',
  'none that',
  'so many',
  'what bites',
  'where to look further',
  'belongs? into',
  'no such thing',
  'makes? no sense',
  '(looks?|looking) only',
  'vouch(es|ed)?',
  'lies? beneath',
  'stands? (in|there|where|behind|before|beside)',
  '(try|tries|tried|trying) again',
  'tried and left',
  'why not otherwise',
  '(take|takes|taken|taking) apart',
  'anew',
  'side by side',
  'summer time',
  'for ever',
  'of ours',
  'good order',
  // Two words twice in a row, on one line.
  '([a-z]+\\x20[a-z]+)\\x20\\1',
];

/** Phrases that a message, and the changelog, avoid in addition. */
const avoidedInMessages: readonly string[] = [
  '(go|goes|going) with',
  'carr(y|ies|ied) out',
  'is known of',
  'are unknown: nothing',
  'names? X workflows',
  'once more',
  'what it takes',
  'all of it',
  '(nobody )?can answer here',
  'is that a',
  'is 40[0-9] for',
  'by their names',
  '(take|takes|took) (nine tenths|less time|of the time)',
];

const patterns = avoided.map(patternOf);
const messagePatterns = [...avoided, ...avoidedInMessages].map(patternOf);

/** Every use of an avoided phrase outside marked blocks (`<!-- words -->` to `<!-- /words -->`) and allowed phrases. */
export function usesOfAvoided(file: string, text: string, allowed: readonly string[] = []): readonly Use[] {
  return usesOf(patterns, { file, text, allowed });
}

/** Like `usesOfAvoided`, with the phrases that messages avoid. */
export function usesInMessages(file: string, text: string, allowed: readonly string[] = []): readonly Use[] {
  return usesOf(messagePatterns, { file, text, allowed });
}

function patternOf(phrase: string): RegExp {
  return new RegExp(`\\b(?:${phrase.replaceAll(' ', '\\s+')})\\b`, 'gi');
}

type Searched = { readonly file: string; readonly text: string; readonly allowed: readonly string[] };

function usesOf(phrases: readonly RegExp[], { file, text, allowed }: Searched): readonly Use[] {
  const searched = [...blocksMarked(text), ...allowed].reduce((rest, part) => rest.replaceAll(part, blank(part)), text);
  return phrases
    .flatMap((pattern) => [...searched.matchAll(pattern)])
    .map(({ 0: phrase, index }) => ({ file, line: text.slice(0, index).split('\n').length, phrase }))
    .toSorted((a, b) => a.line - b.line);
}

/**
 * The text of a TypeScript file with everything blank but its comments and the titles of its tests (string arguments of
 * `describe`, `test` and `it`, also of `.each(…)` and `describeWith`), at the same lines and columns.
 */
export function titlesAndComments(file: string, text: string): string {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const kept: (readonly [start: number, end: number])[] = [];
  const visit = (node: ts.Node): void => {
    for (const { pos, end } of ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []) kept.push([pos, end]);
    for (const { pos, end } of ts.getTrailingCommentRanges(text, node.end) ?? []) kept.push([pos, end]);
    if (ts.isCallExpression(node) && /^(describe|test|it)(With(All)?)?$/.test(calledName(node.expression))) {
      for (const title of node.arguments.filter(isText)) kept.push([title.getStart(source), title.end]);
    }
    for (const child of node.getChildren(source)) if (!ts.isJSDoc(child)) visit(child);
  };
  visit(source);
  const ranges = kept.toSorted(([a], [b]) => a - b);
  let at = 0;
  let result = '';
  for (const [start, end] of ranges.filter(([start], index) => start !== ranges[index - 1]?.[0])) {
    result += blank(text.slice(at, start)) + text.slice(start, end);
    at = end;
  }
  return result + blank(text.slice(at));
}

/**
 * The messages of a TypeScript file: everything blank but its texts of several words, at the same lines and columns. The
 * value in a template is `X`.
 */
export function messagesOf(file: string, text: string): string {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const kept: [start: number, text: string][] = [];
  const visit = (node: ts.Node): void => {
    const isWhole = isText(node) || ts.isJsxText(node);
    if (isWhole && /\S\s+\S/.test(node.getText(source))) kept.push([node.getStart(source), textIn(node, source)]);
    ts.forEachChild(node, visit);
  };
  visit(source);
  let result = '';
  for (const [start, message] of kept.toSorted(([a], [b]) => a - b)) {
    if (start >= result.length) result += blank(text.slice(result.length, start)) + message;
  }
  return result;
}

/** The text of a node in as many characters, with the value of each `${...}` as one `X`. */
function textIn(node: ts.Node, source: ts.SourceFile): string {
  if (!ts.isTemplateExpression(node)) return node.getText(source);
  const spans = node.templateSpans.map(({ expression, literal }) => {
    const value = expression.getFullText(source);
    return `${value.replace(/[^\n]/g, ' ').replace(' ', 'X')}${literal.getText(source)}`;
  });
  return node.head.getText(source) + spans.join('');
}

/** `test` of `test(…)`, `test.each(…)(…)` and ``test.each`…`(…)``; empty for other expressions. */
function calledName(called: ts.Expression): string {
  if (ts.isIdentifier(called)) return called.text;
  if (ts.isTaggedTemplateExpression(called)) return calledName(called.tag);
  return ts.isPropertyAccessExpression(called) || ts.isCallExpression(called) ? calledName(called.expression) : '';
}

function isText(node: ts.Node): boolean {
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
}

/** Blocks with quotes of bad phrases, and blocks that are generated from the source. */
function blocksMarked(text: string): readonly string[] {
  return [...text.matchAll(/<!-- (words|settings) -->[\s\S]*?<!-- \/\1 -->/g)].map(([block]) => block);
}

/** Of the same length and lines, so that positions stay. */
function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}
