import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { convertedText } from '#language/forms/convert.ts';
import { loadWorkflow } from '#language/load.ts';
import { samplesOf } from './samples.ts';

const root = join(import.meta.dirname, '../../../fixtures');
const convert = (text: string) => convertedText({ path: '-', text });
const load = (text: string, dir = '/') => loadWorkflow({ text, file: null, dir });

const samples = ['dagu-1.24', 'dagu-2.6', 'dagu-2.15'].flatMap((version) =>
  samplesOf(`${version}.txt`).map(({ name, text }) => ({ name: `${version}: ${name}`, text, dir: '/' })),
);

function filesBelow(above: string, folders: readonly string[]) {
  const paths = folders.flatMap((folder) =>
    readdirSync(join(above, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  );
  return paths
    .filter((file) => /\.ya?ml$/.test(file))
    .sort()
    .map((file) => ({ name: file, text: readFileSync(join(above, file), 'utf8'), dir: join(above, file, '..') }));
}

const files = filesBelow(root, ['workflows', 'programs']);
const corpus = process.env['WF_CORPUS'];
const real = corpus === undefined ? [] : filesBelow(corpus, ['.']);

describe('a converted file', () => {
  const valid = [...samples, ...files, ...real].filter(({ text, dir }) => load(text, dir).workflow !== null);

  it.each(valid.map((file) => [file.name, file] as const))('is the same workflow: %s', (_, { text, dir }) => {
    const converted = convert(text);
    if (converted === null) return;
    const [before, after] = [load(text, dir), load(converted, dir)];
    const known = new Set(before.diagnostics.map(({ code }) => code));
    expect(after.diagnostics.filter(({ code }) => !known.has(code))).toEqual([]);
    expect({ converted, workflow: after.workflow }).toEqual({ converted, workflow: before.workflow });
    expect(after.form).toBeUndefined();
    expect(convert(converted)).toBeNull();
  });

  it('are most of the samples of later versions', () => {
    const changed = samples.filter(({ text }) => load(text).workflow !== null && convert(text) !== null);
    expect(changed.length).toBeGreaterThan(20);
  });

  it('keeps comments, empty lines, texts and the order', () => {
    const text = `# dagu: 3
# Head of the file

# of constants
consts: # the constants
  - version: 1.2 # old

params:
  - WHO: 'a b' # who

# all steps
steps:
  # the first step
  - id: a # its id
    run: | # a script
      echo one # of the script
      echo \${consts.version}
    # of the retry
    retry_policy: {limit: "2", interval_sec: 2m} # twice

  # the second step

  #
  # with a request
  - id: b
    action: http.request
    with:
      # the address
      url: http://localhost/x
      timeout: 5
      headers: {A: 1.10}
  - id: c
    foreach:
      # the items
      items: [1, 2]
      steps:
        # in the loop
        - id: s
          run: "echo \${foreach.item}" # yes
  # after the last step
# the end
`;
    expect(convert(text)).toBe(`# Head of the file

# of constants
# the constants
# old

params:
  - WHO: 'a b' # who

# all steps
type: graph
steps:
  # the first step
  - id: a # its id
    script: | # a script
      echo one # of the script
      echo 1.2
    # of the retry
    retryPolicy: {limit: 2, intervalSec: 2m} # twice

  # the second step

  #
  # with a request
  - id: b
    executor:
      type: http
      config:
        # the address
        timeout: 5
        headers: {A: "1.10"}
    command: GET http://localhost/x
  - id: c
    run: foreach.c
    params:
      foreach_item: \${ITEM}
      foreach_index: \${WF_ITEM_INDEX}
      foreach_key: \${WF_ITEM_INDEX}
    # the items
    parallel: {items: [1, 2]}
---
name: foreach.c
params:
  - foreach_item: ""
  - foreach_index: ""
  - foreach_key: ""
steps:
  # in the loop
  - id: s
    command: "echo \${foreach_item}" # yes

# after the last step
# the end
`);
  });

  it('has texts that YAML would read otherwise in quotes', () => {
    const words = [
      'a: b',
      '- x',
      '# y',
      'yes',
      'null',
      '1e3',
      '0x1f',
      ' lead',
      'tab\there',
      "it's",
      '"q"',
      '*a',
      '&b',
      '!c',
      '%d',
      '@e',
      '',
      '{{ x }}',
      '\u0007bell',
      'é\u2028',
      '~',
      '1.10',
      'true',
    ];
    const lines = words.map((word) => `line\n${word}\n\n  ${word}\n`);
    for (const word of [
      ...words,
      ...lines,
      ...lines.map((text) => `  ${text}`),
      'a\n',
      'a\n\n',
      '\n',
      'a\r\nb',
      'a \n b ',
    ]) {
      const text = `env: [{V: ${JSON.stringify(word)}}]\nhandler_on: {exit: {run: "echo | cat"}}\nsteps: [{id: b, action: exec, with: {command: echo, args: [${JSON.stringify(word)}]}}]\n`;
      const [before, converted] = [load(text).workflow, convert(text)];
      expect({ word, converted, workflow: load(converted ?? '').workflow }).toEqual({
        word,
        converted,
        workflow: before,
      });
      expect(before).not.toBeNull();
    }
  });

  it('is null for a file that has only keys of wf', () => {
    for (const text of [
      'steps: [make]',
      'steps:\n  - exec: [my prog]\n',
      'params: [A]\nsteps:\n  - command: echo ${params.A}\n',
    ])
      expect(convert(text)).toBeNull();
  });
});
