import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { versionOf } from './machine.mjs';

/** The launcher of `wf`. */
const launcher = join(import.meta.dirname, '../bin/wf.js');

/** `wf` with arguments. */
export function wf(...args) {
  return { command: [process.execPath, launcher, ...args] };
}

/** An empty program of Node. `target`: the largest ratio. */
export function bareNode(target) {
  return { peer: 'node -e 0', target, command: [process.execPath, '-e', '0'] };
}

/**
 * `wf`, make and, if installed, ninja with the same steps, `jobs` at once. All run them in a shell, as usual. `target`
 * limits the ratio to make.
 */
export function againstMake(folder, { jobs, steps, target, settings = { maxActiveRuns: jobs } }) {
  const make = { peer: 'make', target, command: ['make', '-rRs', `-j${jobs}`, '-f', makefile(folder, steps)] };
  const ninja = {
    peer: 'ninja',
    command: ['ninja', '--quiet', `-j${jobs}`, '-C', folder, '-f', ninjaFile(folder, steps)],
  };
  return {
    ours: wf('run', workflowFile(folder, settings, steps)),
    peers: [make, ...(versionOf('ninja') === null ? [] : [ninja])],
  };
}

/** A step whose sources have not changed, and git with the same files. */
export function upToDate(folder, count) {
  const tree = join(folder, 'tree');
  for (let at = 0; at < count; at += 1) {
    const directory = join(tree, `src/d${Math.floor(at / 100)}`);
    if (at % 100 === 0) mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, `f${at}.txt`), `${at}\n`);
  }
  const file = join(tree, 'workflow.yaml');
  writeFileSync(file, 'steps:\n  - {name: build, command: "true", sources: src}\n');
  const git = (...args) => ['git', '-C', tree, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args];
  for (const [program, ...args] of [git('init', '-q'), git('add', '.'), git('commit', '-qm', 'a')])
    execFileSync(program, args);
  return {
    ours: wf('run', '--reporter', 'quiet', file),
    peers: [{ peer: 'git status', target: 1.2, command: git('status', '--porcelain') }],
  };
}

/** Steps without dependencies. */
export function independent(count, command) {
  return Array.from({ length: count }, (_, at) => ({ name: `s${at}`, command, depends: [] }));
}

/** Each step depends on `fanIn` neighbours in the previous layer. */
export function layers(depth, width, fanIn) {
  const name = (layer, at) => `s${layer * width + (at % width)}`;
  return Array.from({ length: depth * width }, (_, index) => {
    const [layer, at] = [Math.floor(index / width), index % width];
    const depends = layer === 0 ? [] : Array.from({ length: fanIn }, (_, next) => name(layer - 1, at + next));
    return { name: name(layer, at), command: 'true', depends };
  });
}

/** Each step prints the output of its predecessor; make and ninja keep outputs in files. */
export function outputChain(count) {
  return Array.from({ length: count }, (_, at) => ({
    name: `s${at}`,
    command: at === 0 ? 'echo value' : `echo $V${at - 1}`,
    output: `V${at}`,
    shell: at === 0 ? 'echo value > o0' : `read value < o${at - 1}; echo $value > o${at}`,
    depends: at === 0 ? [] : [`s${at - 1}`],
  }));
}

/** Writes the steps as a workflow file and returns its path. */
export function workflowFile(folder, settings, steps) {
  const file = join(folder, 'workflow.yaml');
  const head = Object.entries(settings).map(([key, value]) => `${key}: ${value}\n`);
  const body = steps.map(({ name, command, output, depends }) => {
    const after = depends.length === 0 ? '' : `    depends: [${depends.join(', ')}]\n`;
    const keeps = output === undefined ? '' : `    output: ${output}\n`;
    return `  - name: ${name}\n    command: "${command}"\n${keeps}${after}`;
  });
  writeFileSync(file, `${head.join('')}steps:\n${body.join('')}`);
  return file;
}

/** The `;` makes make use a shell. */
function makefile(folder, steps) {
  const file = join(folder, 'Makefile');
  const all = steps.map(({ name }) => name).join(' ');
  const rules = steps.map(({ name, command, shell = command, depends }) => {
    return `${name}: ${depends.join(' ')}\n\t${inFolder(folder, shell).replaceAll('$', '$$$$')};\n`;
  });
  writeFileSync(file, `.PHONY: all ${all}\nall: ${all}\n${rules.join('')}`);
  return file;
}

/** No step creates the file it is named after, so ninja runs all of them each time. */
function ninjaFile(folder, steps) {
  const file = join(folder, 'build.ninja');
  const rules = steps.map(({ name, command, shell = command, depends }) => {
    const line = inFolder(folder, shell).replaceAll('$', '$$$$');
    return `rule r-${name}\n  command = ${line}\nbuild ${name}: r-${name} ${depends.join(' ')}\n`;
  });
  writeFileSync(file, `builddir = ${join(folder, 'home')}\n${rules.join('')}`);
  return file;
}

/** Files of a step belong into the folder of the workload. */
function inFolder(folder, line) {
  return / o\d/.test(line) ? `cd ${folder} && { ${line}; }` : line;
}
