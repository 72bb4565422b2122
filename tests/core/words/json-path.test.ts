import { describe, expect, test } from 'vitest';
import { expandText, references } from '#core/words/interpolate.ts';
import { PathProblem } from '#core/words/json-path.ts';
import { withoutPaths } from '#core/words/shell-paths.ts';
import { expandWords, parseCommand } from '#core/words/words.ts';

const values: Readonly<Record<string, string>> = {
  CFG: ` { "host" : "a \\"b\\" é", "port": 80, "n": [1.0, 1e5, 123456789012345678901, {"x": [ ]}], "no": null,
    "db": {"a b": true, "x-y_1": "dash", "": "empty key"}, "port": 8080 } `,
  LIST: '[{"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}]',
  ROWS: JSON.stringify({
    rows: ['a.csv', 'b.csv'].map((file) => JSON.stringify({ ROW: JSON.stringify({ file }) })),
    list: '[1, 2]',
    none: 'no JSON',
    number: '5',
  }),
  WORDS: 'plain words',
  EMPTY: '',
  EVIL: '{"a": "$(touch PWN) `id` \\"; x"}',
};
const scope = (name: string) => (Object.hasOwn(values, name) ? values[name] : undefined);

describe('a path into the JSON of a variable', () => {
  test.each([
    ['${CFG.host}', 'a "b" é'],
    ['${CFG.port}', '8080'],
    ['${CFG.n[0]} ${CFG.n[1]} ${CFG.n[2]}', '1.0 1e5 123456789012345678901'],
    ['${CFG.n}', '[1.0,1e5,123456789012345678901,{"x":[]}]'],
    ['${CFG.n[-1].x}', '[]'],
    ['${CFG.db["a b"]}', 'true'],
    ['${CFG.db.x-y_1}', 'dash'],
    ['${CFG["db"][""]}', 'empty key'],
    ['${CFG.no}', 'null'],
    ['${LIST[1].ip}', '10.0.0.2'],
    ['${LIST[-2]}', '{"ip":"10.0.0.1"}'],
    ['${ROWS.rows[1].ROW.file} ${ROWS.rows[0].ROW}', 'b.csv {"file":"a.csv"}'],
    ['${ROWS.list[-1]}', '2'],
    ['${ROWS.none.x:-default}', 'default'],
    ['${EVIL.a}', '$(touch PWN) `id` "; x'],
    ['${CFG.no:-none} ${CFG.nope:-${CFG.port}} ${NOT.a:-x} ${WORDS.a:-y} ${EMPTY.a:-}', 'none 8080 x y '],
    ['\\${CFG.host}', '${CFG.host}'],
    ['$CFG.host'.replace('CFG', 'WORDS'), 'plain words.host'],
  ])('%s is %s', (template, text) => {
    expect(expandText(template, scope)).toBe(text);
  });

  test.each([
    ['${CFG.nope}', '"${CFG.nope}": CFG has no "nope" (it has host, port, n, no, db)'],
    ['${CFG.db.host}', '"${CFG.db.host}": CFG.db has no "host" (it has a b, x-y_1, )'],
    ['${CFG.host.x}', '"${CFG.host.x}": CFG.host is not a map'],
    ['${ROWS.none.x}', '"${ROWS.none.x}": ROWS.none is not a map'],
    ['${ROWS.number.x}', '"${ROWS.number.x}": ROWS.number is not a map'],
    ['${CFG[0]}', '"${CFG[0]}": CFG is not a list'],
    ['${LIST.ip}', '"${LIST.ip}": LIST is not a map'],
    ['${LIST[2]}', '"${LIST[2]}": LIST has no [2] (it has 2 entries)'],
    ['${CFG.n[3].x[0]}', '"${CFG.n[3].x[0]}": CFG.n[3].x has no [0] (it has 0 entries)'],
    ['${WORDS.a}', '"${WORDS.a}": WORDS is not JSON'],
    ['${EMPTY.a}', '"${EMPTY.a}": EMPTY is not JSON'],
    ['${NOT.a}', '"${NOT.a}": NOT is not defined'],
  ])('%s is an error', (template, message) => {
    expect(() => expandText(template, scope)).toThrow(new PathProblem(message));
  });

  test('uses the name of its variable', () => {
    expect(references('${A.b} ${B[0]:-${C.d}} `echo ${D.e}`')).toEqual(['A', 'B', 'C', 'D']);
  });

  test('may be in a word of a command, where single quotes keep it', () => {
    const parsed = parseCommand(
      'echo "<${CFG.db.x-y_1}>" ${LIST[0].ip}:1 \'${CFG.host}\' ${CFG.nope:-a b} ${CFG.no:-}',
    );
    if (parsed.kind !== 'words') throw new Error('needs a shell');
    expect(expandWords(parsed.words, scope)).toEqual(['echo', '<dash>', '10.0.0.1:1', '${CFG.host}', 'a b']);
  });

  test.each([
    ['echo ${CFG.host} | cat', 'echo ${WF_PATH_1} | cat', ['a "b" é']],
    ['echo "${CFG.port:-x}" \'${CFG.host}\'; :', 'echo "${WF_PATH_1:-x}" \'${CFG.host}\'; :', ['8080']],
    ['echo "it\'s ${CFG.port}" # it\'s ${CFG.x}\necho ${CFG.port}', null, ['8080', '8080']],
    ["cat <<X\nit's ${CFG.port} \\${CFG.port}\nX\necho ${CFG.port}", null, ['8080', '8080']],
    ['cat <<\'X\'\n${CFG.port}\nX\necho "$(echo \'${CFG.x}\' "${CFG.port}")"', null, ['8080']],
    ['echo ${LIST[0].ip} ${ARRAY[0]} ${WORDS[0]} ${NOT.a:-no}', null, ['10.0.0.1', '']],
    ['a=${CFG.host%b*}; echo \\${CFG.x} `echo ${EVIL.a}`', null, ['a "b" é', '$(touch PWN) `id` "; x']],
  ])('becomes a variable in the code of a shell: %j', (code, changed, found) => {
    const result = withoutPaths(code, scope);
    expect(Object.values(result.env)).toEqual(found);
    if (changed !== null) expect(result.code).toBe(changed);
  });

  test('to a missing part is an error in the code of a shell too', () => {
    expect(() => withoutPaths('echo "${CFG.nope}" | cat', scope)).toThrow(PathProblem);
  });
});
