import { copyFileSync, linkSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

/**
 * `wf` keeps its compiled code below its home. Nearly every test has a home of its own, so each would compile `wf` again, which
 * takes longer than most commands. The code is shared here instead; what `wf` does without it is tested in `tests/package`.
 */
const shared = resolve(import.meta.dirname, '../../node_modules/.cache/wf-test-code');
const bundle = resolve(import.meta.dirname, '../../dist/wf.cjs');

/** Lends compiled code to the home of a command that is about to start. Returns what keeps the code that it leaves there. */
export function lendCode(home: string, args: readonly string[]): () => void {
  const cache = join(home, 'cache');
  const names = codeFiles(shared, args);
  if (names.length > 0) {
    quietly(() => mkdirSync(home, { mode: 0o700 }));
    quietly(() => mkdirSync(cache, { mode: 0o700 }));
  }
  for (const name of names) quietly(() => linkOrCopy(join(shared, name), join(cache, name)));
  return () => {
    const found = codeFiles(cache, args).filter((name) => !names.includes(name));
    if (found.length > 0) removeOutdated();
    for (const name of found) quietly(() => linkOrCopy(join(cache, name), join(shared, name)));
  };
}

/** The files that a command line needs of the current build: each command has its own, and so has the process of a run. */
function codeFiles(folder: string, [command = '', ...options]: readonly string[]): readonly string[] {
  const commands = command === 'serve' || options.includes('--detach') ? [command, 'carry'] : [command];
  return filesIn(folder).filter((name) => commands.includes(name.split('-', 1)[0] ?? '') && isCurrent(name));
}

function removeOutdated(): void {
  quietly(() => mkdirSync(shared, { recursive: true, mode: 0o700 }));
  for (const name of filesIn(shared)) if (!isCurrent(name)) quietly(() => rmSync(join(shared, name)));
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** As `bin/code-cache.js` names them. */
function isCurrent(name: string): boolean {
  const { size, ctimeMs } = statSync(bundle);
  return name.endsWith(`-${process.arch}-${size}-${ctimeMs}.code`);
}

/** A copy appears whole or not at all, as a link does. */
function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    const draft = `${to}.${process.pid}`;
    copyFileSync(from, draft);
    renameSync(draft, to);
  }
}

/** Homes that cannot be written, or are gone, are part of what is tested. */
function quietly(act: () => void): void {
  try {
    act();
  } catch {
    // Then `wf` compiles.
  }
}
