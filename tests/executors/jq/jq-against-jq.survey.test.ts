import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { executor } from '#executors/jq/jq.ts';
import { describeWith, isInstalled } from '../../support/require.ts';
import { testAttempt } from '../attempt.ts';

const people = '[{"name":"Ann","age":41,"tags":["a","b"]},{"name":"Bob","age":30,"tags":[]},{"name":"Cid","age":41}]';
const tree = '{"a":{"b":[1,{"c":null}],"d":false},"e":"text"}';

/** Topics of jq's manual: a filter and its input. */
const cases: readonly (readonly [filter: string, input: string])[] = [
  // Paths
  ['.', tree],
  ['.a.b[1].c', tree],
  ['.["e"], ."e", .e', tree],
  ['.a?.b?[0]', tree],
  ['.missing.deeper', tree],
  ['.[0].name, .[-1].name', people],
  ['.[1:], .[:1], .[-2:-1]', '[1,2,3,4]'],
  ['.[2:4]', '"abcdef"'],
  ['.[]', '{"x":1,"y":[2]}'],
  ['.[]?', '1'],
  ['..|numbers', tree],
  ['[..]|length', tree],
  ['.a.b[]|.c?', tree],
  // Several inputs, several results
  ['., .', '1 "two"\n[3]'],
  ['empty', '1 2'],
  ['[inputs]', '1 2 3'],
  ['input', '1 2 3 4'],
  ['[., input]', '1 2'],
  // Construction
  ['{name, years: .age}', '{"name":"Ann","age":41}'],
  ['{(.name): .tags[]}', '{"name":"Ann","tags":[1,2]}'],
  ['{"a b": 1, "\\(.x)": 2, @base64 "k": 3}', '{"x":"y"}'],
  ['[.[]|{name, n: (.tags|length)}]', people],
  ['. as {name: $n, tags: [$first]} | [$n, $first]', '{"name":"Ann","tags":["t"]}'],
  ['[1, 2, (3, 4)]', 'null'],
  // Operators
  ['.a + .b, .a - .b, .a * .b, .a / .b, .a % .b', '{"a":17,"b":5}'],
  ['{} + {a:1}, [1] + [2], "a" + "b", null + 1', 'null'],
  ['[1,2,1,3] - [1]', 'null'],
  ['"ab" * 3, ("a,b"/","), ({a:{b:1}} * {a:{c:2}})', 'null'],
  ['1 == 1.0, "a" != "b", [1] < [1,0], null < false, {} > []', 'null'],
  ['(true, false) and (true, false)', 'null'],
  ['null or 1, (false|not)', 'null'],
  ['.a // "default", (.[]? // 1)', '{"a":null}'],
  ['1 / 3, 10 / 4, -7 % 3, 5 % -2', 'null'],
  ['-(.a), -.b', '{"a":1,"b":2}'],
  // Built-in functions
  ['length, (.|keys), keys_unsorted', '{"b":1,"a":[1]}'],
  ['[.[]|length]', '[[1,2],"text",{"a":1},null,-5]'],
  ['"ü€😀"|length, utf8bytelength', 'null'],
  ['has("a"), (.b|has(0)), (.b|has(3))', '{"a":1,"b":[1]}'],
  ['map(. + 1), map_values(. * 2)', '[1,2]'],
  ['map_values(empty)', '{"a":1}'],
  ['[paths], [paths(type == "number")]', tree],
  ['path(..|select(type == "boolean"))', tree],
  ['del(.a.b), del(.a.b[0], .e)', tree],
  ['getpath(["a","b",1]), [getpath(["a","x"], ["e"])]', tree],
  ['setpath(["a","b",0]; "new")', tree],
  ['delpaths([["a","b"],["e"]])', tree],
  ['to_entries, with_entries(.value |= tostring)', '{"a":1,"b":2}'],
  ['from_entries', '[{"key":"a","value":1},{"name":"b","value":2},{"k":"c","v":3}]'],
  ['[.[]|select(.age > 35)|.name]', people],
  ['add, (map(tostring)|add), ([]|add)', '[1,2,3]'],
  ['any, all, ([]|any, all), (map(. > 1)|any, all)', '[1,2]'],
  ['flatten, flatten(1)', '[1,[2,[3,[4]]]]'],
  ['[range(4)], [range(2;5)], [range(0;10;3)], [range(5;0;-2)]', 'null'],
  ['floor, ceil, round, sqrt, fabs', '6.25'],
  ['pow(2;10), log10, exp2, (2.7|trunc)', '100'],
  ['tonumber, ("0x1"|tonumber?), ("1.5"|tonumber)', '"42"'],
  ['[.[]|tostring], [.[]|tojson]', '[1,"1",[1],{"a":"b"},null]'],
  ['.[]|fromjson', '["1","[2]","{\\"a\\":null}"]'],
  ['map(type)', '[0,false,[],{},null,"hello"]'],
  ['[.[]|infinite, nan|isinfinite, isnan, isnormal]|length, ([nan]|sort)', '[1]'],
  ['sort, sort_by(-.), (map(tostring)|sort)', '[3,1,20]'],
  ['sort, unique', '[{"b":1},[2],"a",null,true,1,false,null]'],
  ['sort_by(.age, .name)|map(.name)', people],
  ['group_by(.age)|map(map(.name))', people],
  ['min, max, min_by(. % 3), max_by(. % 3)', '[4,2,9]'],
  ['unique, unique_by(length)', '["a","bb","a","c"]'],
  ['reverse, (.[0:0]|reverse)', '[1,2,3]'],
  ['contains("bar"), contains(["baz"])?', '"foobar"'],
  ['contains({a:["x"]}), inside({a:["xy"],b:1})', '{"a":["xy"]}'],
  ['indices(", "), index(","), rindex(",")', '"a, b, c"'],
  ['indices(1), indices([1,2])', '[0,1,2,1,2]'],
  ['startswith("ab"), endswith("cd"), ltrimstr("ab"), rtrimstr("cd")', '"abcd"'],
  ['explode, (explode|implode)', '"aé😀"'],
  ['split(", "), join("-")?', '"a, b"'],
  ['join("-")', '["a",1,null,true]'],
  ['ascii_downcase, ascii_upcase', '"MiXed é"'],
  ['[while(. < 50; . * 2)], [until(. > 50; . * 3)]', '1'],
  ['[limit(3; repeat(. * 2))], first(range(5)), nth(2; range(5)), [first, last]?', '1'],
  ['[.[]|recurse(.c[]?)|.n]', '[{"n":1,"c":[{"n":2,"c":[]},{"n":3}]}]'],
  ['transpose', '[[1],[2,3]]'],
  ['bsearch(3), bsearch(4)', '[1,3,5]'],
  ['[combinations], ([[1,2]]|[.[0]|combinations(2)]?)', '[[1,2],[3,4]]'],
  ['walk(if type == "array" then sort else . end)', '[[3,1],[{"a":[2,1]}]]'],
  ['splits(", *")', '"a,b,  c"'],
  ['input_line_number|type', '1'],
  ['[splits("a+"; "g")]', '"xaayaz"'],
  ['$__loc__.file, ([1,2]|IN(2), IN([1,2])), (INDEX({id:1},{id:2}; .id)|keys)', 'null'],
  ['getpath(["a"]) as $x | [$x.b[0], ([1,2]|inside([1,2,3]))]', tree],
  ['env|type, ($ENV|type)', 'null'],
  ['[65, 66]|implode, @text', '65'],
  // Strings and formats
  ['"one \\(1 + 1) three \\("nested \\(.)")"', '"x"'],
  ['@text, @json, @html, @sh, @base64', '"<a href=\'x\'>é & b</a>"'],
  ['@uri', '"<é & b>"'],
  ['@csv, @tsv, @sh', '[1,"a\\"b","c\\td",null,true]'],
  ['@base64d, @base32', '"aGVsbG8="'],
  ['@uri "q=\\(.q)&x=\\(.x)"', '{"q":"a b/c","x":1}'],
  // Regular expressions
  ['test("B"), test("B"; "i"), [match("[a-z]+"; "g").string]', '"abc def"'],
  ['capture("(?<year>\\\\d+)-(?<month>\\\\d+)")', '"on 2024-05"'],
  ['[scan("[aeiou]")], [scan("(a)(.)")]', '"banana"'],
  ['sub("a"; "o"), gsub("a"; "o"), gsub("(?<x>[an])"; "<\\(.x)>")', '"banana"'],
  ['[match("(a)(x)?").captures[]|{offset, string}]', '"ba"'],
  // Conditionals and errors
  ['if . > 5 then "big" elif . > 2 then "some" else "few" end', '3'],
  ['[.[]|try error("no \\(.)") catch .]', '[1,2]'],
  ['[.[]|(1 / .)?]', '[1,0,2]'],
  ['try error({a: 1}) catch .a', 'null'],
  ['[.[]|tonumber?]', '["1","x","3"]'],
  ['[label $out | .[] | if . > 2 then break $out else . end]', '[1,2,3,1]'],
  ['error("stop")', '1'],
  ['error', '{"a":1}'],
  ['.a.b', '{"a":1}'],
  ['.[0]', '{"a":1}'],
  ['{} | .a.b |= 1 | keys[0] + 1', 'null'],
  // Variables, reductions, functions
  ['.[] as [$a, {b: $b}] | [$a, $b]', '[[1,{"b":2}],[3,{"b":4}]]'],
  ['reduce .[] as $x (0; . + $x)', '[1,2,3]'],
  ['[foreach .[] as $x (0; . + $x)], [foreach .[] as $x (0; . + $x; [$x, .])]', '[1,2,3]'],
  ['def f(x): x * 2; def g($a; $b): $a + $b; [f(.[]), g(1; 2)]', '[1,2]'],
  ['def fac: if . < 2 then 1 else . * (. - 1 | fac) end; [.[]|fac]', '[1,5,10]'],
  ['[.[] as $x | .[] as $y | select($x < $y) | [$x, $y]]', '[1,2,3]'],
  ['.[] as [$a] ?// $a | [$a]', '[[1],2]'],
  ['[limit(5; 1, 2, 3)], isempty(empty)', '[1]'],
  // Assignment
  ['.a = 1, .a.b |= (.[0] + 1)', '{"a":{"b":[5]}}'],
  ['.a += 1, .a -= 1, .a *= 3, .a /= 2, .a %= 2, .b //= "x"', '{"a":5}'],
  ['(.[]|select(. > 1)) |= . * 10, (.[1:] = ["x"])', '[1,2,3]'],
  ['.[0] |= empty', '[1]'],
  ['to_entries|map(select(.value))|from_entries', '{"a":null,"b":1}'],
  // Dates
  ['todate, (todate|fromdate), gmtime, (gmtime|mktime)', '1425599621'],
  ['strptime("%Y-%m-%dT%H:%M:%SZ"), (strptime("%Y-%m-%dT%H:%M:%SZ")|mktime)', '"2015-03-05T23:53:41Z"'],
  ['strftime("%Y-%m-%d %H:%M:%S %j")', '1425599621'],
  // Streams
  ['[tostream]', '{"a":[1,{"b":2}]}'],
  ['fromstream(tostream)', '{"a":[1,{"b":2}]}'],
  ['[1|truncate_stream([[0],1],[[1,0],2],[[1,0]],[[1]])]', 'null'],
  // Comments, whitespace
  ['.a # the first\n, .b', '{"a":1,"b":2}'],
];

/** Invalid filters and inputs. */
const wrong: typeof cases = [
  ['.a |', '1'],
  ['{', '1'],
  ['nothing_of_that_name', '1'],
  ['$undefined_variable', '1'],
  ['.', '{"a":1'],
  ['.', '{"a":1}\n{"b" 2}'],
  ['.', '[1,2'],
  ['.', '[1]]'],
  ['.', 'word'],
];

/** Output and exit code of jq itself. Version 1.6 exits with 4 for wrong input, where its manual says 2. */
function jqProgram(filter: string, input: string): { stdout: string; exitCode: number | null } {
  const { status, stdout } = spawnSync('jq', ['--indent', '4', filter.replace(/^-/, ' -')], {
    input,
    encoding: 'utf8',
  });
  return { stdout, exitCode: status === 4 ? 2 : status };
}

async function jqStep(command: string, script: string): Promise<{ stdout: string; exitCode: number | null }> {
  const world = testAttempt({ step: { command, script } });
  const outcome = await executor.run({}, world.attempt);
  return { stdout: world.stdout(), exitCode: 'exitCode' in outcome ? outcome.exitCode : null };
}

describeWith('jq', isInstalled('jq'), 'the program jq returns the same', () => {
  test.each(cases)('%s of %s', async (filter, input) => {
    const expected = jqProgram(filter, input);
    expect(await jqStep(filter, input)).toEqual(expected);
    expect(expected.exitCode === 0 || expected.exitCode === 5).toBe(true);
  });

  test.each(wrong)('%s of %s, which is wrong', async (filter, input) => {
    const expected = jqProgram(filter, input);
    expect(await jqStep(filter, input)).toEqual(expected);
    expect(expected.exitCode === 2 || expected.exitCode === 3).toBe(true);
  });
});
