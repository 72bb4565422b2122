import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A script that appends to a file of its step in `$NOTES`, outside of `wf`: its begin and its end with the number of the
 * attempt, and each process of an earlier attempt that still exists. It prints what it did. Processes are noted with the time of their start, since
 * their numbers come again. `seconds`: how long it takes, as an expression of the shell.
 */
export function notedScript(seconds: string, indent: string): string {
  const lines = [
    'notes="$NOTES/$WF_RUN_ID.$WF_STEP"',
    'started() { cut -d" " -f22 "/proc/$1/stat" 2>/dev/null; }',
    'if [ -e "$notes" ]; then while read -r what attempt pid start; do',
    '  case $what in begin|child) [ "$(started "$pid")" = "$start" ] && echo "overlap $WF_ATTEMPT $attempt" >> "$notes" ;; esac',
    'done < "$notes"; fi',
    'echo "begin $WF_ATTEMPT $$ $(started $$)" >> "$notes"',
    `sleep ${seconds} &`,
    'echo "child $WF_ATTEMPT $! $(started $!)" >> "$notes"',
    'wait $!',
    'echo "did $WF_STEP $WF_ATTEMPT"',
    'echo "end $WF_ATTEMPT" >> "$notes"',
  ];
  return lines.map((line) => `${indent}${line}`).join('\n');
}

/** What the files of `notedScript` say. `doubled`, `overlapping`: attempts, by their step and number. */
export type Notes = {
  readonly steps: number;
  readonly begun: number;
  readonly unfinished: readonly string[];
  readonly doubled: readonly string[];
  readonly overlapping: readonly string[];
};

/** Reads the files of `notedScript` in a directory. */
export function readNotes(directory: string): Notes {
  const files = readdirSync(directory);
  const lines = files.flatMap((name) => {
    const all = readFileSync(join(directory, name), 'utf8').trim().split('\n');
    return all.map((line) => {
      const [what = '', attempt = ''] = line.split(' ');
      return { what, step: name, attempt: `${name}#${attempt}` };
    });
  });
  const of = (kind: string) => lines.flatMap(({ what, attempt }) => (what === kind ? [attempt] : []));
  const begun = of('begin');
  const ended = new Set(lines.flatMap(({ what, step }) => (what === 'end' ? [step] : [])));
  return {
    steps: files.length,
    begun: begun.length,
    unfinished: files.filter((name) => !ended.has(name)),
    doubled: begun.filter((attempt, index) => begun.indexOf(attempt) !== index),
    overlapping: of('overlap'),
  };
}

/** The processes of this machine whose environment or command line contains a text, such as a temporary directory. */
export function processesOf(text: string): readonly { readonly pid: number; readonly command: string }[] {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) return [];
    try {
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      const known = `${command}\n${readFileSync(`/proc/${name}/environ`, 'utf8')}`;
      return known.includes(text) ? [{ pid, command }] : [];
    } catch {
      return [];
    }
  });
}

/** The guard of a worker, by the process of the worker. */
export function guardOf(worker: number): number | null {
  const children = readFileSync(`/proc/${worker}/task/${worker}/children`, 'utf8').trim().split(' ').filter(Boolean);
  const guard = children.find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('worker-guard'));
  return guard === undefined ? null : Number(guard);
}
