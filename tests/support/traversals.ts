const climbs = [
  '..',
  '../',
  '../..',
  '../../',
  '../../../etc/passwd',
  './',
  '.',
  '/',
  '//',
  '/etc/passwd',
  '~',
  '~/.ssh/id_rsa',
];
const targets = ['outside', 'outside.yaml', '../outside', '../outside.yaml', '../../outside.yaml', 'ops/../../outside'];
const oddSlashes = [
  '..\\outside',
  '..\\..\\outside.yaml',
  '..\u2215outside',
  '..\uff0foutside.yaml',
  '\u2025/outside',
  '.../outside',
];
const encodedTwice = [
  '..%2foutside',
  '%2e%2e/outside',
  '%2e%2e%2foutside.yaml',
  '..%252foutside',
  '%c0%ae%c0%ae/outside',
];
const cut = ['outside\0', '../outside.yaml\0', '../outside\0.yaml', 'hello\0', '\0', 'hello.yaml\0.png'];
const controls = ['hello\n', 'hello\r\nX-Own: 1', '\r\n', '\u202e', '\ufeffhello', 'hello\t'];
const addresses = [
  'file:///etc/passwd',
  'file://outside',
  'http://127.0.0.1/',
  '\\\\host\\share',
  'C:\\outside',
  '/proc/self/environ',
];
const shells = [
  '$(id)',
  '`id`',
  ';id',
  '|id',
  '&& id',
  '$HOME',
  '${PATH}',
  '*',
  'h?llo',
  '[h]ello',
  '{hello,outside}',
  '-rf',
  '--',
];
const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype', 'null', 'undefined', 'NaN'];
const long = ['a'.repeat(4000), '../'.repeat(1000), 'é'.repeat(1000)];

/** What has led programs to files that they should not open, or through their tables of names. None of it is a workflow. */
export const traversals: readonly string[] = [
  ...climbs,
  ...targets,
  ...oddSlashes,
  ...encodedTwice,
  ...cut,
  ...controls,
  ...addresses,
  ...shells,
  ...names,
  ...long,
];
