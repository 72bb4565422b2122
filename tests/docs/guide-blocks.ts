/** A fenced block of a page of the docs. */
export type Block = {
  /** Of the fence in the page, from 1. */
  readonly line: number;
  /** The first word behind the fence: `yaml`, `sh`, `console`, `text`; empty for none. */
  readonly language: string;
  /** Words behind it: `run`, `norun`, `fragment`. */
  readonly words: ReadonlySet<string>;
  /** `file=NAME`: the block is this file of the example. */
  readonly file: string | null;
  /** `exit=1`: what its last command ends with. */
  readonly exit: number;
  readonly text: string;
};

/** One command with what it prints; null where the page does not show that. */
export type Command = { readonly text: string; readonly output: string | null };

/** The languages of blocks, each with the words that may follow it. */
const knownWords: Readonly<Record<string, readonly string[]>> = {
  yaml: ['fragment'],
  sh: ['run', 'norun'],
  console: ['run', 'norun'],
  bash: [],
  zsh: [],
  fish: [],
  json: [],
  nginx: [],
  text: [],
  '': [],
};

const fence = /^( *)```([^`\n]*)\n([\s\S]*?)^\1```$/gm;

/**
 * The fenced blocks of a page in their order. Throws for a language or a word behind a fence that is not known, and for
 * blocks in a form that would not be found: indented by a tab, quoted, with other fences, or without an end.
 */
export function blocksOf(markdown: string): readonly Block[] {
  const other = /^[\s>*-]*(?:```|~~~).*$/m.exec(markdown.replace(fence, ''));
  if (other !== null) throw new Error(`"${other[0]}" is no fence of a block that can be checked`);
  return [...markdown.matchAll(fence)].map(({ 1: indent = '', 2: info = '', 3: text = '', index }) => {
    const line = markdown.slice(0, index).split('\n').length;
    const lines = text.slice(indent.length).replaceAll(`\n${indent}`, '\n');
    return { ...readInfo(info.trim(), line), line, text: lines };
  });
}

/** A page without its blocks, as many lines long. */
export function proseOf(markdown: string): string {
  return markdown.replace(fence, (block) => block.replace(/[^\n]/g, ''));
}

function readInfo(info: string, line: number): Pick<Block, 'language' | 'words' | 'file' | 'exit'> {
  const [language = '', ...rest] = info.split(/\s+/);
  const options = new Map(rest.filter((word) => word.includes('=')).map((word) => word.split('=') as [string, string]));
  const words = new Set(rest.filter((word) => !word.includes('=')));
  const allowed = knownWords[language];
  if (allowed === undefined) throw new Error(`line ${line}: "${language}" is no language of a checked block`);
  const unknown = [...words].find((word) => !allowed.includes(word));
  const key = [...options.keys()].find((name) => name !== 'file' && name !== 'exit');
  if (unknown ?? key) throw new Error(`line ${line}: "${unknown ?? key}" means nothing behind \`\`\`${language}`);
  return { language, words, file: options.get('file') ?? null, exit: Number(options.get('exit') ?? 0) };
}

/** What a block of commands runs: an `sh` block is one script, in `console` each line with a `$` begins a command. */
export function commandsOf({ language, text }: Block): readonly Command[] {
  if (language === 'sh') return [{ text, output: null }];
  if (language !== 'console') return [];
  const commands: { text: string; output: string }[] = [];
  for (const line of text.trimEnd().split('\n')) {
    const last = commands.at(-1);
    if (line.startsWith('$ ')) commands.push({ text: `${line.slice(2)}\n`, output: '' });
    else if (last?.text.endsWith('\\\n') && last.output === '') last.text += `${line.replace(/^> ?/, '')}\n`;
    else if (last) last.output += `${line}\n`;
  }
  return commands;
}

/** The arguments of every `wf` (or `npx wfrun`) that stands at the beginning of a command of a shell script. */
export function wfCalls(script: string): readonly (readonly string[])[] {
  return simpleCommands(script.replaceAll('\\\n', ' ')).flatMap((words) => {
    const start = words.findIndex((word) => !/^\w+=/.test(word));
    if (words[start] === 'wf') return [words.slice(start + 1)];
    return words[start] === 'npx' && words[start + 1] === 'wfrun' ? [words.slice(start + 2)] : [];
  });
}

/** Words of each simple command, without quotes, comments and redirections. */
function simpleCommands(script: string): readonly string[][] {
  const token =
    /\d*[<>]+&?\s*[^\s;&|]+|((?:[^\s"'\\;&|<>()#]|\\.|"(?:\\.|[^"\\])*"|'[^']*'|(?<=\S)#)+)|#.*|([\n;&|()]+)/g;
  const commands: string[][] = [[]];
  for (const [, word, end] of script.matchAll(token)) {
    if (word !== undefined) commands.at(-1)?.push(word.replace(/"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)/g, '$1$2$3'));
    if (end !== undefined) commands.push([]);
  }
  return commands;
}
