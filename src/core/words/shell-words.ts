/** Words that open, continue or close a construct of the shell's grammar. */
const reserved = new Set(
  ['! { } case coproc do done elif else esac fi for function if in select then time until while'].flatMap(split),
);

/**
 * Commands that a shell carries out itself because no program could: they act on the shell, or exist nowhere else. Those
 * that have a program of the same name (`echo`, `test`, `kill`) are not among them.
 */
const builtins = new Set(
  [
    '. : alias bg break cd command continue eval exec exit export fc fg getopts hash jobs local readonly read return set',
    'shift source times trap type ulimit umask unalias unset wait',
    'bind builtin caller compgen complete compopt declare dirs disown enable help history let logout mapfile popd pushd',
    'readarray shopt suspend typeset',
  ].flatMap(split),
);

/** Is this word, as the first of a command, something that only a shell can carry out? */
export function isShellWord(word: string): boolean {
  return reserved.has(word) || builtins.has(word);
}

/** Is this word part of the shell's grammar where a command begins? */
export function isReservedWord(word: string): boolean {
  return reserved.has(word);
}

function split(words: string): readonly string[] {
  return words.split(' ');
}
