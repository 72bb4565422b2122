import fc from '../support/fast-check.ts';

const character = fc.oneof(
  fc.constantFrom(
    ...['a', ' ', '\t', '\n', '\r', '\\', "'", '"', '`', '$', '{', '}', '[', ']', '(', ')'],
    ...['|', '&', ';', '<', '>', '*', '?', '~', '#', '!', '=', '-', '%', ',', '@'],
    ...[
      '$(',
      '${',
      '$1',
      '$$',
      '`id`',
      "'\\''",
      '\\n',
      '\\0101',
      '\\c',
      '%s',
      '{{',
      '}}',
      '{%',
      '{#',
      'stop\n',
      '\u00fc',
      '\u{1f600}',
    ],
  ),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
);
const value = fc.array(character, { maxLength: 12 }).map((parts) => parts.join('').replaceAll('\0', ''));

/** Lists of values with a special meaning to shells, templates or wire formats. */
export const hostileValues = fc.array(value, { minLength: 1, maxLength: 40, size: 'max' });
