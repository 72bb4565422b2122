import { readFileSync } from 'node:fs';
import { dirname, extname, join, resolve } from 'node:path';

/**
 * For esbuild: an import from a module that re-exports the name (`src/service/history.ts`) becomes an import of the module
 * that has it. Otherwise a chunk that needs one name of such a module needs all modules that it lists.
 */
export function throughFaces(root) {
  const faces = createFaces(root);
  return {
    name: 'through-faces',
    setup(plugin) {
      plugin.onLoad({ filter: SOURCE }, ({ path }) => ({
        contents: faces.replace(readFileSync(path, 'utf8'), path),
        loader: extname(path).slice(1),
      }));
    },
  };
}

/** The same for Vite. */
export function throughFacesInPage(root) {
  const faces = createFaces(root);
  const handler = (code, path) => ({ code: faces.replace(code, path), map: null });
  return { name: 'through-faces', enforce: 'pre', transform: { filter: { id: SOURCE }, handler } };
}

const SOURCE = /\/src\/.*\.tsx?$/;
const NAMED_IMPORT = /^(import|export) \{([^}]*)\} from '([#.][^']+\.tsx?)';/gm;
const REEXPORT = /^export \{([^}]*)\} from '([#.][^']+\.tsx?)';/gm;

function createFaces(root) {
  const targets = new Map();
  const replace = (text, path) =>
    text.replace(NAMED_IMPORT, (whole, keyword, names, from) => {
      const listed = targetsOf(pathOf(root, path, from), { root, targets });
      return listed.size === 0
        ? whole
        : statementsOf({ keyword, names, from }, listed) + '\n'.repeat(whole.split('\n').length - 1);
    });
  return { replace };
}

/** The statements are in one line: lines keep their numbers. */
function statementsOf({ keyword, names, from }, listed) {
  const wanted = namesIn(names).map((name) => [listed.get(name.split(' as ')[0]) ?? from, name]);
  return [...new Set(wanted.map(([module]) => module))]
    .map((module) => {
      const own = wanted.filter(([other]) => other === module).map(([, name]) => name);
      return `${keyword} { ${own.join(', ')} } from '${module}';`;
    })
    .join(' ');
}

/** The modules that have the names that a module re-exports. */
function targetsOf(path, { root, targets }) {
  if (!targets.has(path)) {
    const entries = [...readFileSync(path, 'utf8').matchAll(REEXPORT)].flatMap(([, names, from]) => {
      const module = pathOf(root, path, from);
      const further = targetsOf(module, { root, targets });
      return namesIn(names).map((name) => [name, further.get(name) ?? module]);
    });
    targets.set(path, new Map(entries));
  }
  return targets.get(path);
}

function namesIn(list) {
  return list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith('type '));
}

function pathOf(root, importer, from) {
  return from.startsWith('#') ? join(root, 'src', from.slice(1)) : resolve(dirname(importer), from);
}
