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
const ofSystem =
  /^(?:(?:BASH|LC|XDG|ZSH)_[A-Z_]+|BASH(?:PID|OPTS)?|FUNC(?:NAME|NEST)|COMP_(?:LINE|POINT|KEY|TYPE|C?WORDS?)|COMPREPLY|HOME|USER|LOGNAME|PATH|SHELL|PWD|OLDPWD|LANG|TZ|TERM|TMPDIR|HOSTNAME|IFS|OPTARG|OPTIND|PPID|RANDOM|SRANDOM|SECONDS|LINENO|E?UID|GROUPS|PIPESTATUS|REPLY|SHLVL|(?:HOST|OS|MACH)TYPE|DIRSTACK|EPOCH[A-Z]+|MAPFILE|COPROC|_|PS[0-4]|pipestatus|status|argv|path)$/;

/** Whether a shell or a login sets the variable on every machine. */
export function isSystemVariable(name: string): boolean {
  return ofSystem.test(name);
}

/** A bare name, as in `NAME=`, `read NAME`, `for NAME`; `--NAME`, `/NAME` and `.NAME` set nothing. */
const bareName = /(?<![\w$/.-]|\$\{[#!]?)[A-Za-z_]\w*/g;

/** Finds words of shell code that may name variables it sets. */
export function bareNames(code: string): Set<string> {
  return new Set([...code.matchAll(bareName)].map(([name]) => name));
}

function split(words: string): readonly string[] {
  return words.split(' ');
}
