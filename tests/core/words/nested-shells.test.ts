import { describe, expect, test } from 'vitest';
import { sealNested } from '#core/words/nested-shells.ts';

const own = new Set(['P', 'Q']);
const isOwn = (name: string) => own.has(name);

describe('a variable in the code of a nested shell is left to that shell', () => {
  test.each([
    ['sh -c "echo $P"', 'sh -c "echo \\${P}"'],
    ['a | sh -c "echo \'$P\'"', 'a | sh -c "echo \'\'\\"\\${P}\\"\'\'"'],
    ['sh -c "bash -c \'echo $P\'"', 'sh -c "bash -c \\"echo \\\\\\${P}\\""'],
    ['sh -c \'bash -c "echo $P"\'', 'sh -c "bash -c \\"echo \\\\\\${P}\\""'],
    ['x=`sh -c "echo $P"`', 'x=$(sh -c "echo \\${P}")'],
    ['for f in a; do sh -c "echo $f $P"; done', 'for f in a; do sh -c "echo $f \\${P}"; done'],
    ['sh -c "echo $(date) $P"', 'sh -c "echo $(date) \\${P}"'],
    ['sh -c echo\\ $P', 'sh -c "echo \\${P}"'],
    [
      'timeout -k 5 -s KILL 60 env -u X bash -xeo pipefail -c "$P-$Q"',
      'timeout -k 5 -s KILL 60 env -u X bash -xeo pipefail -c "\\${P}-\\${Q}"',
    ],
    [
      'a >x 2>&1 <<E; sh -c "$P a"\nsh -c "$P b"\nE\nsh -c "$P c"',
      'a >x 2>&1 <<E; sh -c "\\${P} a"\nsh -c "$P b"\nE\nsh -c "\\${P} c"',
    ],
    ['while sudo -u root -E -- sh -ec "$P x"; do :; done', 'while sudo -u root -E -- sh -ec "\\${P} x"; do :; done'],
    ['rbash -c "echo $P"', 'rbash -c "echo \\${P}"'],
    ['fish --command="echo $P"', 'fish "--command=echo \\$P"'],
    ['fish -c "echo \'$P\' $Q"', 'fish -c "echo \'\'\\"\\$P\\"\'\' \\$Q"'],
  ])('%s', (code, sealed) => {
    expect(sealNested(code, { isOwn })).toEqual({ code: sealed, problems: [] });
  });
});

describe('everything else stays as it is', () => {
  test.each([
    "sh -c 'echo $P'",
    'python -c "$P"',
    'psql -c "$P"',
    'grep -c "$P" file',
    'echo "$P" | sh',
    'su root -c "echo $P"',
    'eval "echo $P"',
    'sh script -c "$P"',
    'sh -e script "$P" -c',
    'bash --version; echo -c "$P"',
    'ssh host -c aes "echo $P"',
    'git push -c "$P"',
    '# sh -c "echo $P"',
    'echo \'sh -c "echo $P"\'',
    'cat <<E\nsh -c "echo $P"\nE\n',
    'sh -c "for x in 1 2; do echo $x; done"',
    'bash -c "$(curl -fsSL $P)"',
    'f() { sh -c "$1"; }; f ls',
    'sudo sh -c "cd $HOME"',
    'sh -c "echo $P',
  ])('%s', (code) => {
    expect(sealNested(code, { isOwn })).toEqual({ code, problems: [] });
  });
});

describe('a variable that cannot be left to the shell is a problem', () => {
  test.each([
    ['position', '$1', 'sh -c "echo $1"'],
    ['position', '$@', 'true; sh -c "echo $@"'],
    ['whole', '$P', 'sh -c $P'],
    ['whole', '${P:-ls}', 'bash -lc " ${P:-ls} "'],
    ['cleared', '$P', 'env -i sh -c "echo $P"'],
    ['cleared', '$P', 'timeout 5 sudo -u x sh -c "echo $P"'],
    ['cleared', '$P', 'sudo --preserve-env=Q sh -c "echo $P"'],
    ['changed', '$P', 'P=1 sh -c "echo $P"'],
    ['changed', '$P', 'env -u P sh -c "echo $P"'],
    ['unknown', '$P', 'docker exec x sh -c "echo $P"'],
    ['unknown', '$P', 'sudo -E kubectl exec x -- bash -c "echo $P"'],
    ['unknown', '$P', 'env -S "sh -c \'echo $P\'"'],
    ['unknown', '$P', 'env --split-string "sh -c $P"'],
    ['complex', '${P^^}', 'sh -c "echo ${P^^}"'],
    ['complex', '$(basename $P)', 'sh -c "echo $(basename $P)"'],
    ['complex', '$P', 'sh -c "cat <<\'E\'\n$P\nE\n"'],
  ])('%s: %s in %s', (kind, reference, code) => {
    const { problems, code: sealed } = sealNested(code, { isOwn });
    expect({ sealed, problems: problems.map((one) => [one.kind, one.reference]) }).toEqual({
      sealed: code,
      problems: [[kind, reference]],
    });
  });
});
