import { expect, test } from 'vitest';
import { uncheckedLine } from '#language/check/check-lines.ts';
import { loadWorkflow } from '#language/load.ts';

test.each<[string, string | null]>([
  ['./missing-tool\necho deployed', './missing-tool'],
  ['cd build\nmake', 'cd build'],
  ['X=$(false)\necho $X', 'X=$(false)'],
  ['make \\\n  all\nmake install', 'make \\ all'],
  ['if test -f a; then\n  cat a\nfi\nmake\necho', 'make'],
  ['#!/bin/bash\nmake\nmake install', 'make'],
  ['make', null],
  ['\n# builds\nmake\n\n# ends\n', null],
  ['echo one\nprintf two\nX=1\nexport Y=2\nmake', null],
  ['A="$X/b" \nB=$Y\nC=$((1 + 2))\nD+=(a b)\nmake', null],
  ['A=1 make\nmake install', 'A=1 make'],
  ['make &&\nmake install', null],
  ['make && \\\n make install', null],
  ['make || exit 1\nmake install', null],
  ['make |\n tee log', null],
  ['set -euo pipefail\nmake\nmake install', null],
  ['set -o errexit\nmake\nmake install', null],
  ['#!/bin/sh -e\nmake\nmake install', null],
  ['#!/usr/bin/env python3\nimport os\nprint(1)', null],
  ['cat <<END\nnot a command\nEND', null],
  ["cat <<'END' || exit 1\nnot a command\nEND\nmake", null],
  ['for f in *; do\n  cp $f /x\ndone', null],
  ['main() {\n  make\n  make install\n}\nmain', 'make'],
  ['if test -f a; then\n  make\n  make install\nfi', 'make'],
  ['if test -f a; then\n  echo\nelse\n  # both\n  make\n  make install\nfi', 'make'],
  ['while read -r f; do\n  cp $f /x\n  cp $f /y\ndone <list', 'cp $f /x'],
  ['for f in *; do\n  cp $f /x || exit\n  test $f = b && break\n  cp $f /y\ndone', null],
  ['(\n  cd build\n  make\n)', 'cd build'],
  ['case $X in\n  b)\n    make\n    make install\n    ;;\nesac', 'make'],
  ['if ! make; then\n  rm -rf build\n  exit 1\nfi', null],
  ['if make\nthen\n  make install\nelif make b\nthen\n  make c\nfi', null],
  ['python3 -c "\nimport os\nprint(os.name)\n"', null],
  ["awk '\n  {print}\n  # it\n' x\nmake", "awk '   {print}   # it ' x"],
  ["cat <<END\nit's\nEND\n# it's\nmake\nmake install", 'cat <<END'],
  ['LIST=(\n  a\n  b\n)\nmake', null],
  ['main()\n{\n  make\n}\nmain', null],
  ['case $X in\n  a) make ;;\n  b)\n    make\n    ;;\nesac', null],
  ['sleep 1\nexit 3', null],
])('%j', (text, line) => {
  expect(uncheckedLine(text)).toBe(line);
});

const script = 'script: |\n      make\n      make install\n';
test.each<[string, number]>([
  ['bash -euo pipefail', 0],
  ['[bash, -e]', 0],
  ['python3', 0],
  ['bash', 1],
  ['""', 1],
])('of a script that "command: %s" runs', (command, count) => {
  const text = `steps:\n  - name: a\n    command: ${command}\n    ${script}`;
  const { diagnostics } = loadWorkflow({ text, file: null, dir: '/', environment: [] });
  expect(diagnostics.map(({ code }) => code)).toEqual(Array(count).fill('unchecked-lines'));
});

test.each<[string, number]>([
  ['[sh, -c, "make\\nmake install"]', 1],
  ['[env, A=1, bash, -ec, "make\\nmake install"]', 0],
  ['[echo, "make\\nmake install"]', 0],
])('of the command %s', (command, count) => {
  const text = `steps:\n  - name: a\n    command: ${command}\n`;
  const { diagnostics } = loadWorkflow({ text, file: null, dir: '/', environment: [] });
  expect(diagnostics.map(({ code }) => code)).toEqual(Array(count).fill('unchecked-lines'));
});

test.each<[string, string, string | null, number]>([
  ['sh by default', '', null, 1],
  ['a shell without -e', 'shell: bash\n', null, 1],
  ['a shell with -e', 'shell: bash -euo pipefail\n', null, 0],
  ['a shell with errexit', 'shell: /usr/bin/env bash -o errexit\n', null, 0],
  ['a shell with a profile', 'shell: bash -l\n', null, 1],
  ['another interpreter', 'shell: python3\n', null, 0],
  ['the setting', '', 'bash -e', 0],
  ['the file before the setting', 'shell: sh\n', 'bash -e', 1],
])('of a file with %s', (_, top, shell, count) => {
  const text = `${top}steps:\n  - name: a\n    ${script}`;
  const presets = { logOutput: 'merged', shell } as const;
  const load = (checks: object) => loadWorkflow({ text, file: null, dir: '/', presets, ...checks }).diagnostics;
  expect(load({ environment: [] }).map(({ code }) => code)).toEqual(Array(count).fill('unchecked-lines'));
  // A run does not repeat what `wf validate` says.
  expect(load({})).toEqual([]);
});

test('the setting "shell" is the shell of a file that names none, and starts plain commands directly', () => {
  const shellOf = (text: string) => {
    const presets = { logOutput: 'merged', shell: 'bash -e' } as const;
    const { workflow } = loadWorkflow({ text, file: null, dir: '/', presets });
    return [workflow?.shell, workflow?.namesShell];
  };
  const steps = 'steps: [{name: a, command: echo}]\n';
  expect(shellOf(steps)).toEqual(['bash -e', undefined]);
  expect(shellOf(`shell: zsh\n${steps}`)).toEqual(['zsh', true]);
});
