/** A step with a nested shell whose code has the variable `P`; it must print the value of `P`, whatever that is. */
export type Spelling = { readonly name: string; readonly step: object; readonly shell?: string };

const print = 'printf %s \\"$P\\"';

/** A command as a text, as most users write it. */
function text(command: string, shell?: string): Spelling {
  return { name: command, step: { command }, ...(shell === undefined ? {} : { shell }) };
}

/** The spellings in which `wf` or a shell could make the value of `P` a part of code. */
export const spellings: readonly Spelling[] = [
  text(`sh -c "${print}"`),
  text('sh -c "printf %s \'$P\'"'),
  text("sh -c \"printf %s '<'$P'>' | tr -d '<>' >/dev/null; printf %s '$P'\""),
  text('sh -c "printf %s \\"${P}\\""'),
  text('sh -c "printf %s \\"${Z:-$P}\\""'),
  text('sh -c "printf %s \\"${P:-none}\\""'),
  text('sh -c \'printf %s "$P"\''),
  text(`/bin/sh -c "${print}"`),
  text(`bash -ec "${print}"`, 'bash'),
  text(`bash -lc "${print}"`, 'bash'),
  text(`bash -o pipefail -c "${print}"`, 'bash'),
  text(`bash -xeo pipefail -c "${print}" 2>/dev/null`, 'bash'),
  text(`bash --norc -c "${print}"`, 'bash'),
  text(`bash -c -- "${print}"`, 'bash'),
  text(`dash -c "${print}"`, 'dash'),
  text(`zsh -c "${print}"`, 'zsh'),
  text('fish -c "printf %s \'$P\'"', 'fish'),
  text(`busybox sh -c "${print}"`, 'busybox'),
  text(`"sh" "-c" "${print}"`),
  text(`env X=1 sh -c "${print}"`),
  text(`/usr/bin/env -u X sh -c "${print}"`),
  text(`exec sh -c "${print}"`),
  { name: 'exec -a', step: { shell: 'bash', command: `exec -a name bash -c "${print}"` }, shell: 'bash' },
  text(`command sh -c "${print}"`),
  text(`nice -n 5 sh -c "${print}"`),
  text(`timeout -s KILL 60 sh -c "${print}"`),
  text(`nohup sh -c "${print}"`),
  text(`timeout 60 nice env A=b sh -c "${print}"`),
  text(`echo x | xargs -I{} sh -c "${print}"`),
  text(`env -i P="$P" sh -c "${print}"`),
  text(`sudo -E sh -c "${print}"`, 'sudo'),
  text(`find . -maxdepth 0 -exec sh -c "${print}" \\;`),
  { name: '$SHELL', step: { env: [{ SHELL: '/bin/sh' }], command: `$SHELL -c "${print}"` } },
  text(`true | sh -c "${print}"`),
  text(`cd . && sh -c "${print}"`),
  text(`if true; then sh -c "${print}"; fi`),
  text(`for i in 1; do sh -c ": $i; ${print}"; done`),
  text(`X=$(sh -c "${print}; echo x"); printf %s "\${X%x}"`),
  text(`(sh -c "${print}")`),
  text(`sh -c "$(echo true); ${print}"`),
  text('sh -c "sh -c \'printf %s \\"$P\\"\'"'),
  text('sh -c \'sh -c "printf %s \\"$P\\""\''),
  text('sh -c "cat <<END\n$P\nEND\n" | head -c -1'),
  { name: 'args after sh -c', step: { command: 'sh -c', args: ['printf %s "$P"'] } },
  { name: 'args with -c', step: { command: 'sh', args: ['-c', "printf %s '$P'"] } },
  { name: 'args after text for the shell', step: { command: 'cd . && sh -c', args: ['printf %s "$P"'] } },
  { name: 'args after a list', step: { command: ['sh', '-c'], args: ['printf %s "$P"'] } },
  { name: 'args after the code', step: { command: 'sh -c', args: ['printf %s "\\$1"', '_', '$P'] } },
  { name: 'a list', step: { command: ['sh', '-c', 'printf %s "$P"'] } },
  { name: 'a list with env', step: { command: ['env', 'X=1', 'sh', '-c', 'printf %s "$P"'] } },
  { name: 'a list with a nested shell', step: { command: ['sh', '-c', 'sh -c "printf %s \'$P\'"'] } },
  { name: 'a function', step: { call: { function: 'show', args: { Q: '$P' } } } },
  { name: 'an item', step: { parallel: ['$P'], command: 'sh -c "printf %s \'$ITEM\'"' } },
  {
    name: 'a path of JSON',
    step: { env: [{ J: '{"a": "x"}' }, { V: '$P' }], command: 'sh -c "printf %s \\"$V\\"; : ${J.a}"' },
  },
  {
    name: 'env by backticks',
    step: { env: [{ V: `\`sh -c "${print}; echo x"\`` }], command: 'printf %s "${V%x}"; true' },
  },
  { name: 'a precondition', step: { preconditions: 'sh -c "test x\'$P\' != y"', command: 'true; printf %s "$P"' } },
  {
    name: 'a condition with a value',
    step: {
      preconditions: [{ condition: '`sh -c "printf %s \'$P\' >/dev/null; echo ok"`', expected: 'ok' }],
      command: 'true; printf %s "$P"',
    },
  },
  { name: 'a named shell', step: { shell: 'bash', command: `sh -c "${print}"` }, shell: 'bash' },
];

/** Values that do something where they become code. `F` is a file that must not come into being. */
export const payloads: readonly string[] = [
  '$(id >F)',
  '`id >F`',
  '; id >F;',
  '"; id >F; "',
  "'; id >F; '",
  '&& id >F',
  '| id >F',
  'a\nid >F\n#b',
  '\\"; id >F #',
  '${X:-$(id >F)}',
  '\'"$(id >F)"\'',
  'plain value  with blanks *',
];
