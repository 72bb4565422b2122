import { isReservedWord } from './shell-words.ts';

/** A shell that a command starts with code in its arguments. */
export type ShellLaunch = {
  /** The index of the word that names the shell. */
  readonly shell: number;
  /** The index of its code: that of the next word if the code is still to be appended. */
  readonly code: number;
  /** Whether the shell has the variables of the command; `unknown`: a program starts it that may run it elsewhere. */
  readonly environment: 'kept' | 'cleared' | 'unknown';
  /** The program that clears the environment, or is unknown. */
  readonly launcher: string;
  /** Variables that the shell has although the environment is cleared. */
  readonly given: ReadonlySet<string>;
  /** Variables that have another value in the shell, or none. */
  readonly changed: ReadonlySet<string>;
};

/** A program that starts the program named by its arguments. */
type Wrapper = {
  /** The letters of the options that take a value. */
  readonly values: string;
  /** The number of arguments before the program. */
  readonly operands?: number;
  /** Options that clear the environment. */
  readonly clears?: RegExp;
  /** Options without which the environment is cleared. */
  readonly keeps?: RegExp;
};

const wrappers: Readonly<Record<string, Wrapper>> = {
  busybox: { values: '' },
  chrt: { values: 'TPD', operands: 1 },
  command: { values: '' },
  doas: { values: 'uC', keeps: /(?!)/ },
  env: { values: 'uCSa', clears: /^(?:-|-[0v]*i\w*|--ignore-environment)$/ },
  exec: { values: 'a', clears: /^-l?cl?$/ },
  flock: { values: 'wE', operands: 1 },
  ionice: { values: 'cnpPu' },
  nice: { values: 'n' },
  nohup: { values: '' },
  setsid: { values: '' },
  stdbuf: { values: 'ioe' },
  sudo: { values: 'CDghpRrtTuU', keeps: /^(?:-[A-Zbknv]*E\w*|--preserve-env)$/, clears: /^(?:-\w*i|--login)$/ },
  taskset: { values: '', operands: 1 },
  time: { values: 'fo' },
  timeout: { values: 'sk', operands: 1 },
  tini: { values: 'pe' },
  xargs: { values: 'aEdILnPs' },
};

const LONG_WITH_VALUE =
  /^--(?:user|group|host|prompt|chdir|chroot|close-from|command-timeout|role|type|other-user|unset|signal|kill-after|adjustment|max-args|max-procs|max-lines|max-chars|arg-file|delimiter|split-string|argv0|class|classdata|input|output|error|format|timeout|wait|conflict-exit-code)$/;

/** Programs that start others somewhere among their arguments, in the same environment. */
const keepers = new Set(
  'fd find script strace ltrace unshare setpriv chroot numactl watch parallel prlimit fakeroot xvfb-run hyperfine entr'.split(
    ' ',
  ),
);

const ASSIGNMENT = /^([A-Za-z_]\w*)\+?=([\s\S]*)$/;
const SHELL_NAME = /^(?:.*\/)?(?:a|r?ba|da|fi|m?k|rk|mk|t?c|z)?sh$|^\$\{?(?:SHELL|BASH)(?:[}:]|$)/;

/**
 * The shell that the words of a simple command start with code (`-c`): itself, or through a program such as `env` or
 * `sudo`. Words are without their quotes, with their variables as written.
 */
export function findLaunch(words: readonly string[]): ShellLaunch | null {
  const given = new Set<string>();
  const changed = new Set<string>();
  let clearedBy = '';
  let at = 0;
  for (;;) {
    at = skipAssignments(words, at, given, changed);
    const name = baseName(words[at] ?? '');
    const wrapper = Object.hasOwn(wrappers, name) ? wrappers[name] : undefined;
    if (wrapper === undefined) break;
    const options = optionsAt(words, at + 1, wrapper);
    for (const word of options.words) {
      for (const kept of /^--preserve-env=(.*)$/.exec(word)?.[1]?.split(',') ?? []) given.add(kept);
    }
    for (const removed of options.unset) changed.add(removed);
    const split = name === 'env' ? options.words.findIndex((word) => /^-\w*S$|^--split-string$/.test(word)) : -1;
    // Its text is a whole command, whose words are not known here.
    if (split !== -1)
      return { shell: at, code: options.end - 1, environment: 'unknown', launcher: 'env -S', given, changed };
    const { keeps, clears } = wrapper;
    const isCleared =
      options.words.some((word) => clears?.test(word)) || (keeps && !options.words.some((word) => keeps.test(word)));
    if (isCleared) clearedBy = name;
    at = options.end;
  }
  const launcher = baseName(words[at] ?? '');
  const isDirect = SHELL_NAME.test(words[at] ?? '');
  const isKept = isDirect || keepers.has(launcher);
  const environment = !isKept ? 'unknown' : clearedBy === '' ? 'kept' : 'cleared';
  for (let shell = at; shell < words.length && (!isDirect || shell === at); shell++) {
    const code = SHELL_NAME.test(words[shell] ?? '') ? codeIndex(words, shell) : -1;
    if (code >= 0) return { shell, code, environment, launcher: isKept ? clearedBy : launcher, given, changed };
  }
  return null;
}

/** The index of the code of a shell in the words of a command given as a list; -1 if there is none. */
export function shellCodeIndex(words: readonly string[]): number {
  const launch = words.some((word) => SHELL_NAME.test(word)) ? findLaunch(words) : null;
  return launch?.environment === 'kept' ? launch.code : -1;
}

function skipAssignments(words: readonly string[], from: number, given: Set<string>, changed: Set<string>): number {
  let at = from;
  for (; at < words.length; at++) {
    const word = words[at] ?? '';
    const [, name = '', value = ''] = ASSIGNMENT.exec(word) ?? [];
    if (name === '' && (word === 'time' || !isReservedWord(word))) break;
    if (name !== '') (value === `$${name}` || value === `\${${name}}` ? given : changed).add(name);
  }
  return at;
}

/** The options of a wrapper, the variables that they remove, and the index of what follows its operands. */
function optionsAt(
  words: readonly string[],
  from: number,
  { values, operands = 0 }: Wrapper,
): { readonly words: readonly string[]; readonly unset: readonly string[]; readonly end: number } {
  const found: string[] = [];
  const unset: string[] = [];
  let at = from;
  for (; at < words.length; at++) {
    const word = words[at] ?? '';
    if (!word.startsWith('-')) break;
    if (word === '--') {
      at++;
      break;
    }
    found.push(word);
    const removed = /^(?:--unset=|-u)(.+)$/.exec(word)?.[1];
    if (removed !== undefined) unset.push(removed);
    if (!takesNext(word, values)) continue;
    at++;
    if (/u$|unset$/.test(word)) unset.push(words[at] ?? '');
  }
  return { words: found, unset, end: at + operands };
}

function takesNext(option: string, values: string): boolean {
  if (option.startsWith('--')) return LONG_WITH_VALUE.test(option);
  for (let i = 1; i < option.length; i++) if (values.includes(option.charAt(i))) return i === option.length - 1;
  return false;
}

/** The index of the code after the options of a shell; -1 if it gets none. */
function codeIndex(words: readonly string[], shell: number): number {
  let isAnnounced = false;
  for (let at = shell + 1; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '--command') return at + 1;
    if (word.startsWith('--command=')) return at;
    if (word === '--') return isAnnounced ? at + 1 : -1;
    if (/^--(?:rcfile|init-file|init-command)$/.test(word)) at++;
    else if (/^[-+][A-Za-z]+$/.test(word)) {
      isAnnounced ||= word.startsWith('-') && word.includes('c');
      // `-o` and `-O` take the next word as their argument.
      at += word.match(/o/gi)?.length ?? 0;
    } else if (!/^--./.test(word)) return isAnnounced ? at : -1;
  }
  return isAnnounced ? words.length : -1;
}

function baseName(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1);
}
