import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { machineText } from './machine.mjs';

const page = join(import.meta.dirname, '../docs/reference/performance.md');
const widths = [13, 57, 9, 15, 9, 9, 9, 9, 9];

/** The line of titles. */
export function head() {
  return row('', '', 'wf', 'peer', '', 'ratio', 'at most', 'memory', 'at most');
}

/** One line per peer; `MISS` marks a ratio or memory over its target. */
export function lines({ name, what, unit, oursMs, peers, memoryMb, memoryTarget = null }) {
  const shown = shownIn(unit);
  return peers.map(({ peer, ms, ratio, target = null }, at) => {
    const memory =
      at > 0 || memoryMb === null ? ['', ''] : [inMb(memoryMb), memoryTarget === null ? '' : inMb(memoryTarget)];
    const misses =
      (target !== null && ratio > target) || (at === 0 && memoryTarget !== null && memoryMb > memoryTarget);
    const cells = [shown(oursMs), peer, shown(ms), ratio.toFixed(2), target?.toFixed(2) ?? '', ...memory];
    return `${row(at === 0 ? name : '', at === 0 ? what : '', ...cells)}${misses ? '  MISS' : ''}`;
  });
}

/** Replaces the tables of the measured groups in the page; the other groups keep theirs. */
export function writeTable(results) {
  let text = readFileSync(page, 'utf8');
  const day = new Date().toISOString().slice(0, 10);
  for (const group of new Set(results.map((result) => result.group))) {
    const marks = [`<!-- bench ${group} -->`, `<!-- end ${group} -->`];
    const [begin, end] = marks.map((mark) => text.indexOf(mark));
    if (begin < 0 || end < begin) throw new Error(`${page} has no place for the table of "${group}"`);
    const table = markdown(results.filter((result) => result.group === group));
    const section = `${marks[0]}\n${table}Measured on ${day}: ${machineText()}.\n`;
    text = text.slice(0, begin) + section + text.slice(end);
  }
  writeFileSync(page, text);
}

function markdown(results) {
  const places = [...new Set(results.map(({ place }) => place))];
  return places
    .map((place) =>
      tableOf(
        place,
        results.filter((result) => result.place === place),
      ),
    )
    .join('');
}

function tableOf(place, results) {
  const rows = results.flatMap(({ what, unit, oursMs, peers, memoryMb }) =>
    peers.map(({ peer, ms, ratio }) => {
      const memory = memoryMb === null ? '' : inMb(memoryMb);
      return `| ${[what, shownIn(unit)(oursMs), peer, shownIn(unit)(ms), ratio.toFixed(2), memory].join(' | ')} |\n`;
    }),
  );
  return `Homes ${place}:\n\n| workload | \`wf\` | peer | takes | ratio | memory of \`wf\` |\n|---|---|---|---|---|---|\n${rows.join('')}\n`;
}

function shownIn(unit) {
  return unit === 'MB' ? inMb : inMs;
}

function inMs(ms) {
  return ms < 1000 ? `${ms.toFixed(1)} ms` : `${(ms / 1000).toFixed(2)} s`;
}

function inMb(mb) {
  return `${mb.toFixed(mb < 20 ? 1 : 0)} MB`;
}

function row(...cells) {
  return cells
    .map((cell, at) => (at < 2 ? cell.padEnd(widths[at]) : cell.padStart(widths[at])))
    .join(' ')
    .trimEnd();
}
