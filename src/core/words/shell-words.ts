/** Words that open, continue or close a construct of the shell's grammar. */
const reserved = new Set(
  ['! { } case coproc do done elif else esac fi for function if in select then time until while'].flatMap(split),
);

/**
 * Commands that only a shell can run: they act on the shell, or exist nowhere else. Commands that also exist as
 * programs (`echo`, `test`, `kill`) are not included.
 */
const builtins = new Set(
  [
    '. : alias bg break cd command continue eval exec exit export fc fg getopts hash jobs local readonly read return set',
    'shift source times trap type ulimit umask unalias unset wait',
    'bind builtin caller compgen complete compopt declare dirs disown enable help history let logout mapfile popd pushd',
    'readarray shopt suspend typeset',
  ].flatMap(split),
);

/** Whether the word, as the first of a command, can only be run by a shell. */
export function isShellWord(word: string): boolean {
  return reserved.has(word) || builtins.has(word);
}

/** Whether the word is part of the shell's grammar at the start of a command. */
export function isReservedWord(word: string): boolean {
  return reserved.has(word);
}

/** Variables that a shell or a login sets on every machine. */
const OF_SYSTEM =
  /^(?:(?:BASH|LC|XDG|ZSH)_[A-Z_]+|BASH(?:PID|OPTS)?|FUNC(?:NAME|NEST)|COMP_(?:LINE|POINT|KEY|TYPE|C?WORDS?)|COMPREPLY|HOME|USER|LOGNAME|PATH|SHELL|PWD|OLDPWD|LANG|TZ|TERM|TMPDIR|HOSTNAME|IFS|OPTARG|OPTIND|PPID|RANDOM|SRANDOM|SECONDS|LINENO|E?UID|GROUPS|PIPESTATUS|REPLY|SHLVL|(?:HOST|OS|MACH)TYPE|DIRSTACK|EPOCH[A-Z]+|MAPFILE|COPROC|_|PS[0-4]|pipestatus|status|argv|path)$/;

/** Whether a shell or a login sets the variable on every machine. */
export function isSystemVariable(name: string): boolean {
  return OF_SYSTEM.test(name);
}

/** A bare name, as in `NAME=`, `read NAME`, `for NAME`; `--NAME`, `/NAME` and `.NAME` set nothing. */
const BARE_NAME = /(?<![\w$/.-]|\$\{[#!]?)[A-Za-z_]\w*/g;

/** Finds words of shell code that may name variables it sets. */
export function bareNames(code: string): Set<string> {
  return new Set([...code.matchAll(BARE_NAME)].map(([name]) => name));
}

function split(words: string): readonly string[] {
  return words.split(' ');
}

/** Matches a sticky pattern at an index. */
export function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** The start of a here-document, its last line, and whether its text is taken as written and may be indented by tabs. */
export type HereDocument = {
  readonly start: string;
  readonly end: string;
  readonly isLiteral: boolean;
  readonly hasTabs: boolean;
};

/** A range of a text. */
export type Span = { readonly start: number; readonly end: number };

const HERE_DOCUMENT = /<<(-?)[ \t]*(?:\\?([\w.-]+)|'([^'\n]*)'|"([^"\n]*)")/y;

/** The here-document whose `<<` is at an index. */
export function hereDocumentAt(text: string, at: number): HereDocument | null {
  const [start, tabs = '', word, single, double] = matchAt(HERE_DOCUMENT, text, at) ?? [];
  if (start === undefined) return null;
  const isLiteral = word === undefined || start.includes('\\');
  return { start, end: word ?? single ?? double ?? '', isLiteral, hasTabs: tabs !== '' };
}

/** The last line of the here-document whose text starts at an index; null if it has no end. */
export function closingLine(text: string, from: number, { end, hasTabs }: HereDocument): Span | null {
  for (let start = from; start < text.length; ) {
    const stop = lineEnd(text, start);
    const line = text.slice(start, stop);
    if ((hasTabs ? line.replace(/^\t+/, '') : line) === end) return { start, end: stop };
    start = stop + 1;
  }
  return null;
}

/** The index of the end of a line. */
export function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
}

/** Deeper nesting of quotes and substitutions counts as unbalanced; it does not occur in practice. */
const DEEPEST_NESTING = 100;

/**
 * The index after the unit that starts at `at`: an escaped character, a quoted text, a `$(...)`, `${...}` or backtick
 * substitution, or one character. Null if the unit is never closed.
 */
export function endOfUnit(text: string, at: number, depth = 0): number | null {
  if (depth > DEEPEST_NESTING) return null;
  const char = text[at];
  if (char === '\\') return at + 1 < text.length ? at + 2 : null;
  if (char === "'") return after(text.indexOf("'", at + 1));
  if (char === '"') return endOfNested(text, at + 1, { closer: '"', depth });
  if (char === '`') return endOfBackticks(text, at + 1);
  if (text.startsWith('$(', at)) return endOfNested(text, at + 2, { closer: ')', opener: '(', depth });
  if (text.startsWith('${', at)) return endOfNested(text, at + 2, { closer: '}', depth });
  return at + 1;
}

function after(index: number): number | null {
  return index < 0 ? null : index + 1;
}

function endOfBackticks(text: string, from: number): number | null {
  for (let i = from; i < text.length; i++) {
    if (text[i] === '`') return i + 1;
    if (text[i] === '\\') i++;
  }
  return null;
}

function endOfNested(
  text: string,
  from: number,
  { closer, opener, depth }: { closer: string; opener?: string; depth: number },
): number | null {
  let open = 1;
  let at = from;
  while (at < text.length) {
    if (text[at] === closer && --open === 0) return at + 1;
    if (text[at] === opener) open++;
    // Within double quotes a single quote is an ordinary character.
    const end = closer === '"' && text[at] === "'" ? at + 1 : endOfUnit(text, at, depth + 1);
    if (end === null) return null;
    at = end;
  }
  return null;
}
