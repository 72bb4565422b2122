import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { launcher } from '../support/wf.ts';
import { type Block, commandsOf } from './guide-blocks.ts';

/** What a command of a page printed and how it ended, beside what the page says. */
export type Played = {
  readonly block: Block;
  readonly command: string;
  readonly code: number | null;
  readonly exit: number;
  /** Standard output and standard error as they came. */
  readonly printed: string;
  /** As the page has it; null where it shows none. */
  readonly shown: string | null;
};

/**
 * Follows a page as a reader would, in an empty directory with a home of its own: writes its files, and runs its commands in
 * order. `adapt` is called with each script before it is run, and returns the script to run instead.
 */
export async function play(
  blocks: readonly Block[],
  directory: string,
  adapt: (script: string) => Promise<string> = async (script) => script,
): Promise<readonly Played[]> {
  const place = prepare(directory);
  const played: Played[] = [];
  for (const block of blocks) {
    if (block.file !== null) writeBlock(block.file, block.text, place);
    const commands = block.words.has('run') ? commandsOf(block) : [];
    for (const [i, { text, output }] of commands.entries()) {
      const exit = i === commands.length - 1 ? block.exit : 0;
      played.push({ block, command: text, exit, shown: output, ...(await run(await adapt(text), place)) });
    }
  }
  return played;
}

type Place = { readonly cwd: string; readonly home: string; readonly bin: string };

function prepare(directory: string): Place {
  const home = join(directory, 'home');
  const place = { cwd: join(home, 'work'), home, bin: join(directory, 'bin') };
  for (const made of [home, place.cwd, place.bin]) mkdirSync(made);
  symlinkSync(launcher, join(place.bin, 'wf'));
  return place;
}

/** Writes the files of a page, which may belong together. Returns the directory that they are seen from. */
export function writeFiles(blocks: readonly Block[], directory: string): string {
  const place = prepare(directory);
  for (const { file, text } of blocks) if (file !== null) writeBlock(file, text, place);
  return place.cwd;
}

function writeBlock(name: string, text: string, { cwd, home }: Place): void {
  const path = name.startsWith('~/') ? join(home, name.slice(2)) : join(cwd, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  if (text.startsWith('#!')) chmodSync(path, 0o755);
}

function run(script: string, { cwd, home, bin }: Place): Promise<{ code: number | null; printed: string }> {
  const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}`, HOME: home, LANG: 'C.UTF-8' };
  // Through one pipe: from two, texts that arrive together may be read in another order.
  const child = spawn('sh', ['-ec', `exec 2>&1; ${script}`], { cwd, env, stdio: ['ignore', 'pipe', 'ignore'] });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  return new Promise((done) =>
    child.on('close', (code) => done({ code, printed: printed.replaceAll(home, '/home/you') })),
  );
}

/** A page in which each command is followed by what it prints; what was shown already and still is right stays. */
export function withOutputs(markdown: string, played: readonly Played[]): string {
  const lines = markdown.split('\n');
  for (const block of [...new Set(played.map((one) => one.block))].toReversed()) {
    const commands = played.filter((one) => one.block === block && one.shown !== null);
    if (commands.length === 0) continue;
    const texts = commands.map(({ command, shown, printed }) => {
      return `$ ${command}${shown !== null && shows(shown, printed) ? shown : printed}`;
    });
    const count = block.text.split('\n').length - 1;
    lines.splice(block.line, count, ...texts.map((text) => text.replace(/\n$/, '')));
  }
  return lines.join('\n');
}

/** Whether a page shows what was printed: times and ids are any, and a line `...` stands for any lines. */
export function shows(shown: string, printed: string): boolean {
  const lines = withoutChance(shown).split('\n');
  const pattern = lines.map((line) => (line.trim() === '...' ? '(?:.*\\n)*?' : `${escaped(line)}\\n`)).join('');
  return new RegExp(`^${pattern.replace(/\\n$/, '')}$`).test(withoutChance(printed));
}

/** Without what differs from run to run: times, durations, ids. */
export function withoutChance(text: string): string {
  return text
    .replace(/\d{4}-\d\d-\d\d([ T])\d\d:\d\d(:\d\d)?(\.\d+)?Z?/g, 'DATE$1TIME')
    .replace(/\b\d\d:\d\d:\d\d\b/g, 'TIME')
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}(-[0-9a-f]{4}){0,2}(-[0-9a-f]{12})?\b/g, 'ID')
    .replace(/\b\d+(\.\d+)?(ms|s)\b/g, 'SOON')
    .replace(/[ \t]+/g, ' ')
    .replace(/ $/gm, '');
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
