import type { MapEntry, MapNode, Node } from '../read/node.ts';
import { type Action, isSet, type KeptArtifacts, needed, path, program, type Settings } from './action-steps.ts';
import { Fields, jsonOf, namedMaps, type Report, scalar, textIn } from './form-nodes.ts';

/** The actions on files, archives and artifacts: programs of this machine. */
export const fileActions: { readonly [name: string]: Action } = {
  'file.stat': (all) => {
    const missing = `printf '{"operation":"stat","path":%s,"exists":false}\\n' "$(printf %s "$1" | text)"`;
    const absent = isSet(all, 'missing_ok') ? missing : 'echo "$1 does not exist" >&2; exit 1';
    const code = `${ENTRY}if [ -e "$1" ] || [ -L "$1" ]; then entry stat "$1" "$1"; echo '}'; else ${absent}; fi`;
    return program(all, code, [path(all, 'path')]);
  },
  'file.list': (all) => {
    const directory = path(all, 'path');
    return listing(
      all,
      scalar('.', all.at),
      [directory],
      '[ -d "$3" ] || { echo "$3 is not a directory" >&2; exit 1; }\n',
    );
  },
  'file.read': (all) => reading(all, path(all, 'path'), null),
  'file.mkdir': (all) => {
    const mode = all.given.take('mode')?.value;
    return mode === undefined
      ? program(all, 'mkdir -p -- "$1"', [path(all, 'path')])
      : program(all, 'mkdir -p -- "$1"\nchmod "$2" -- "$1"', [path(all, 'path'), mode]);
  },
  'file.write': (all) => {
    const parents = isSet(all, 'create_dirs') ? 'mkdir -p -- "$(dirname -- "$1")"\n' : '';
    return write(all, parents, path(all, 'path'));
  },
  'artifact.write': (all) => {
    const inside = `${WITHIN}set -- "$WF_ARTIFACTS_DIR/$1" "$2" "$3"\nmkdir -p -- "$(dirname -- "$1")"\n`;
    return write(all, inside, artifactPath(all));
  },
  'artifact.read': (all) => {
    const named = artifactPath(all);
    const text = textIn(named) ?? '';
    const writer = all.reading.artifacts.writers.get(text);
    if (writer === undefined) {
      const help = `Read it in a command, from the directory \${ID.artifacts} of the step that keeps it.`;
      all.reading.report('not-supported', named, `no step keeps "${text}" under this path`, { help });
    }
    return reading(all, scalar(`\${${writer ?? 'ID'}.artifacts}/${text}`, named), named);
  },
  'artifact.list': (all) => {
    const named = all.given.get('path') === null ? scalar('.', all.at) : artifactPath(all);
    const keepers = all.reading.artifacts.before(
      textIn(all.step.get('name')?.value) ?? textIn(all.step.get('id')?.value),
    );
    if (keepers.length === 0) {
      const help = 'Add the steps that keep artifacts to its "depends".';
      all.reading.report('missing-dependency', all.at, 'no step before this one keeps artifacts', { help });
    }
    const roots = keepers.map((step) => scalar(`\${${step}.artifacts}`, all.at));
    return listing(all, named, roots);
  },
  'file.copy': (all) => copy(all, isSet(all, 'recursive') ? 'cp -R' : 'cp'),
  'file.move': (all) => {
    isSet(all, 'recursive');
    return copy(all, 'mv');
  },
  'file.delete': (all) => {
    const options = [isSet(all, 'recursive') ? '-r' : '', isSet(all, 'missing_ok') ? '-f' : ''].filter((text) => text);
    return program(all, ['rm', ...options, '-- "$1"'].join(' '), [path(all, 'path')]);
  },
  'archive.create': (all) => archive(all, { zip: 'zip -q -r "$2" .', tar: 'tar -caf "$2" -C "$1" .' }, 'destination'),
  'archive.extract': (all) => archive(all, { zip: 'unzip -q "$1" -d "$2"', tar: 'tar -xf "$1" -C "$2"' }, 'source'),
  'archive.list': (all) => {
    const source = path(all, 'source');
    return program(all, isZip(all, source) ? 'unzip -l "$1"' : 'tar -tf "$1"', [source]);
  },
};

/** Which of the steps keep artifacts. `isChain`: each follows the one before. */
export function keptArtifacts(steps: Node | undefined, isChain: boolean): KeptArtifacts {
  const all = namedMaps(steps);
  const writers = new Map<string, string>();
  const keepers = new Set<string>();
  const earlier = new Map<string, readonly string[]>();
  for (const [index, { name, map }] of all.entries()) {
    if (name === null) continue;
    const fields = new Fields(map.entries);
    const depends = fields.get('depends')?.value;
    const named = (depends?.kind === 'list' ? depends.items : [depends]).flatMap((node) => textIn(node) ?? []);
    earlier.set(name, isChain ? [...named, ...(all[index - 1]?.name ?? [])] : named);
    for (const kept of keptPaths(fields)) writers.set(kept, name);
    if (fields.get('artifacts') !== null || keepsArtifacts(map)) keepers.add(name);
  }
  const before = (step: string | null): readonly string[] => {
    const found = new Set<string>();
    const open = [...(earlier.get(step ?? '') ?? [])];
    for (let name = open.pop(); name !== undefined; name = open.pop()) {
      if (!found.has(name)) open.push(...(earlier.get(name) ?? []));
      found.add(name);
    }
    return all.flatMap(({ name }) => (name !== null && found.has(name) && keepers.has(name) ? [name] : []));
  };
  return { writers, before };
}

/** The paths at which a step keeps files, as far as the file names them. */
function keptPaths(step: Fields): readonly string[] {
  const inMap = (key: string, name: string) => {
    const value = step.get(key)?.value;
    return value?.kind === 'map' ? textIn(new Fields(value.entries).get(name)?.value) : null;
  };
  const written = textIn(step.get('action')?.value) === 'artifact.write' ? inMap('with', 'path') : null;
  return [written, inMap('stdout', 'artifact'), inMap('stderr', 'artifact')].flatMap((path) => path ?? []);
}

/** Whether a step keeps files as this form says it, or names the directory of artifacts in its texts. */
export function keepsArtifacts(step: MapNode): boolean {
  if (keptPaths(new Fields(step.entries)).length > 0) return true;
  return /ARTIFACTS_DIR|\$\{context\.paths\.artifacts_dir\}/.test(JSON.stringify(jsonOf(step)));
}

/** Ends a program whose first argument is no path below a directory. */
const WITHIN = 'case "/$1/" in //*|*/../*) echo "not a path below the artifacts: $1" >&2; exit 1;; esac\n';

/** A path below the directory of the artifacts. */
function artifactPath(all: Settings): Node {
  const found = needed(all, 'path');
  checkArtifactPath(found, `the "path" of "${all.action}"`, all.reading.report);
  return found;
}

/** Reports a path that is not below the directory of the artifacts; `what` names it in the message. */
export function checkArtifactPath(path: Node, what: string, report: Report): void {
  if (!/^[/~]|(?:^|\/)\.\.(?:\/|$)/.test(textIn(path) ?? '')) return;
  const help = 'Write a path below the directory of the artifacts, such as reports/a.txt.';
  report('wrong-value', path, `${what} leaves the artifacts`, { help });
}

/** Writes a file, which appears with its whole content or not at all. `before`: code that may change the arguments. */
function write(all: Settings, before: string, file: Node): readonly MapEntry[] {
  const mode = all.given.take('mode')?.value ?? scalar('0600', all.at);
  const atomic = all.given.get('atomic');
  const isWhole = isSet(all, 'atomic') || atomic === null;
  const isReplaced = isSet(all, 'overwrite');
  if (isReplaced && !isWhole && atomic !== null) {
    const help = 'Remove "atomic": a file always appears as a whole.';
    all.reading.report('conflicting-keys', atomic.key, `"${all.action}" with "overwrite" cannot be "atomic: false"`, {
      help,
    });
  }
  const move = isReplaced ? 'mv -f -- "$new" "$1"' : 'ln -- "$new" "$1"\nrm -f -- "$new"';
  const code = `${before}new="$1.$$.new"\ntrap 'rm -f -- "$new"' EXIT\nprintf %s "$2" > "$new"\nchmod "$3" -- "$new"\n${move}`;
  return program(all, code, [file, needed(all, 'content'), mode]);
}

function copy(all: Settings, tool: string): readonly MapEntry[] {
  const parents = isSet(all, 'create_dirs') ? 'mkdir -p -- "$(dirname -- "$2")"\n' : '';
  const free = isSet(all, 'overwrite') ? '' : '! [ -e "$2" ] || { echo "$2 exists" >&2; exit 1; }\n';
  return program(all, `${free}${parents}${tool} -- "$1" "$2"`, [path(all, 'source'), path(all, 'destination')]);
}

function archive(
  all: Settings,
  tools: { readonly zip: string; readonly tar: string },
  named: 'source' | 'destination',
): readonly MapEntry[] {
  const args = [path(all, 'source'), path(all, 'destination')];
  const file = args[named === 'source' ? 0 : 1] ?? all.at;
  const code = isZip(all, file) ? tools.zip : tools.tar;
  if (named === 'source') return program(all, `mkdir -p -- "$2"\n${code}`, args);
  const folder = isZip(all, file) ? 'target=$(realpath -m -- "$2")\ncd -- "$1"\nset -- "$1" "$target"\n' : '';
  return program(all, `${folder}${code}`, args);
}

function isZip({ given }: Settings, file: Node): boolean {
  const format = textIn(given.take('format')?.value);
  return format === 'zip' || (format === null && /\.zip$/i.test(textIn(file) ?? ''));
}

/** Reads a text as a string of JSON, in quotes; then prints the metadata of a file as the beginning of a JSON map. */
const ENTRY = String.raw`export LC_ALL=C
text() {
  { cat; printf x; } | awk 'BEGIN { for (i = 1; i < 32; i++) code[sprintf("%c", i)] = sprintf("\\u%04x", i); ORS = "" }
    { all = all (NR > 1 ? "\n" : "") $0 }
    END { print "\""; for (i = 1; i < length(all); i++) { c = substr(all, i, 1)
      print (c == "\"" || c == "\\" ? "\\" c : (c in code) ? code[c] : c) } print "\"" }'
}
entry() {
  mode=$(stat -c %A -- "$3")
  case $mode in d*) kind=directory ;; l*) kind=symlink ;; -*) kind=file ;; *) kind=other ;; esac
  printf '{"operation":"%s","path":%s,"exists":true,"type":"%s","size":%s,"mode":"%s"' \
    "$1" "$(printf %s "$2" | text)" "$kind" "$(stat -c %s -- "$3")" "$mode"
}
`;

/** Prints a file, or a JSON map with its metadata and content. `shown`: the path in that map; null for that of the file. */
function reading(all: Settings, file: Node, shown: Node | null): readonly MapEntry[] {
  const given = all.given.take('max_bytes')?.value;
  const most = given ?? scalar('0', all.at);
  const format = all.given.take('format')?.value;
  const isJson = textIn(format) === 'json';
  if (format !== undefined && !isJson && textIn(format) !== 'raw') {
    all.reading.report('wrong-value', format, `"format" of "${all.action}" must be "raw" or "json"`);
  }
  const limit =
    '[ "$2" -le 0 ] || [ "$(stat -c %s -- "$1")" -le "$2" ] || { echo "$1 exceeds max_bytes $2" >&2; exit 1; }';
  if (given === undefined && !isJson) return program(all, 'cat -- "$1"', [file]);
  const print = isJson
    ? `[ -f "$1" ]\nentry read "$3" "$1"\nprintf ',"content":%s,"bytes":%s}\\n' "$(text < "$1")" "$(stat -c %s -- "$1")"`
    : 'cat -- "$1"';
  return program(all, `${isJson ? ENTRY : ''}${limit}\n${print}`, [file, most, shown ?? file]);
}

/** Prints the files below a directory, of which each of the roots may have a part, as a JSON map. */
function listing(all: Settings, directory: Node, roots: readonly Node[], check = ''): readonly MapEntry[] {
  const pattern = all.given.take('pattern')?.value;
  const glob = textIn(pattern) ?? '';
  if (pattern !== undefined && /[$`]/.test(glob)) {
    const help = 'Write the pattern without variables, or a command with "find".';
    all.reading.report('not-supported', pattern, `"pattern" of "${all.action}" cannot have variables`, { help });
  }
  const depth = isSet(all, 'recursive') ? '' : ' -maxdepth 1';
  const kinds = isSet(all, 'include_dirs') ? '\\( -type f -o -type d \\)' : '-type f';
  const code = `${WITHIN}${check}${ENTRY}directory=$1
expression=$2
shift 2
names() {
  for root; do
    [ ! -d "$root/$directory" ] || (cd -- "$root/$directory"; find . -mindepth 1${depth} ${kinds} ! -name '*[[:cntrl:]]*')
  done | sed 's|^\\./||' | sort -u | { grep -E -- "$expression" || :; }
}
lines=$(names "$@" | while IFS= read -r name; do
  for root; do [ ! -e "$root/$directory/$name" ] || file=$root/$directory/$name; done
  [ "$directory" = . ] && path=$name || path=$directory/$name
  entry list "$path" "$file"
  echo '}'
done)
files=$(printf %s "$lines" | grep -c '"type":"file"' || :)
printf '{"operation":"list","path":%s,"files":%s,"entries":[%s]}\\n' \\
  "$(printf %s "$directory" | text)" "$files" "$(printf %s "$lines" | paste -sd , -)"`;
  return program(all, code, [directory, scalar(globExpression(glob), pattern ?? all.at), ...roots]);
}

/** A pattern of paths as an extended regular expression; one that matches everything for an empty pattern. */
function globExpression(glob: string): string {
  if (glob === '') return '';
  const parts = glob.replaceAll(/\*\*\/|\*\*|\*|\?|\[!?[^\]]+\]|\{[^{}]*\}|[\\^$.|+()[\]{}]/g, (part) => {
    if (part === '**/') return '(.*/)?';
    if (part === '**') return '.*';
    if (part === '*') return '[^/]*';
    if (part === '?') return '[^/]';
    if (part.startsWith('[') && part.length > 1) return part.replace('[!', '[^');
    if (part.startsWith('{') && part.length > 1) {
      const choices = part.slice(1, -1).split(',');
      return `(${choices.map((choice) => globExpression(choice).slice(1, -1)).join('|')})`;
    }
    return `\\${part}`;
  });
  return `^${parts}$`;
}
