import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';

/** One place in a source file. */
export type Place = { readonly file: string; readonly line: number; readonly text: string };

/** The TypeScript files of a folder by path (relative to `root`), parsed. */
export function readSources(root: string, folder: string): ts.SourceFile[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort()
    .map((file) => parse(file, readFileSync(join(root, file), 'utf8')));
}

export function parse(file: string, text: string): ts.SourceFile {
  return ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
}

/**
 * Where the file reaches for the process it happens to run in: `process.env`, `process.exit` and `process.exitCode`
 * (also imported from `node:process`), and the global `console`.
 */
export function usesOfTheProcess(source: ts.SourceFile): Place[] {
  return nodesOf(source)
    .filter((node) => isProcessMember(node) || isImportOfProcess(node) || isGlobalConsole(node))
    .map((node) => placeOf(source, node));
}

/** Relative imports, static, dynamic or of types only, that do not name the file with its extension. */
export function importsWithoutExtension(source: ts.SourceFile): Place[] {
  return nodesOf(source)
    .filter((node) => ts.isStringLiteral(node) && isSpecifier(node) && /^\.{1,2}\//.test(node.text))
    .filter((node) => !/\.(tsx?|css|json|cjs|mjs)(\?[\w&]+)?$/.test((node as ts.StringLiteral).text))
    .map((node) => placeOf(source, node));
}

function nodesOf(source: ts.SourceFile): ts.Node[] {
  const nodes: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    nodes.push(node);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return nodes;
}

function placeOf(source: ts.SourceFile, node: ts.Node): Place {
  const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
  return { file: source.fileName, line: line + 1, text: node.getText(source) };
}

const OWNED_BY_THE_CLI = ['env', 'exit', 'exitCode'];

function isProcessMember(node: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(node)) {
    return node.expression.getText() === 'process' && OWNED_BY_THE_CLI.includes(node.name.text);
  }
  return ts.isElementAccessExpression(node) && node.expression.getText() === 'process';
}

function isImportOfProcess(node: ts.Node): boolean {
  return ts.isImportDeclaration(node) && /^['"](node:)?process['"]$/.test(node.moduleSpecifier.getText());
}

/** Calls on it only: a parameter or a property may well have the name. */
function isGlobalConsole(node: ts.Node): boolean {
  if (!ts.isPropertyAccessExpression(node) || node.expression.getText() !== 'console') return false;
  return ['log', 'error', 'warn', 'info', 'debug', 'trace', 'table', 'dir'].includes(node.name.text);
}

function isSpecifier({ parent }: ts.StringLiteral): boolean {
  if (ts.isImportDeclaration(parent) || ts.isExportDeclaration(parent)) return true;
  if (ts.isCallExpression(parent)) return parent.expression.kind === ts.SyntaxKind.ImportKeyword;
  return ts.isLiteralTypeNode(parent) && ts.isImportTypeNode(parent.parent);
}
