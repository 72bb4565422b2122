import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { escapeHtml } from '#render/text.ts';
import { WfError } from '#system/errors.ts';
import { bestEncoding, type Encoding, entityTag } from '../reply/send.ts';
import { type ApiRequest, HttpError, type Reply, type Route } from '../route.ts';

/** Paths of the page's screens; `/` also answers API clients. */
const screens = ['/login', '/runs', '/runs/{id}', '/system', '/w/{name}', '/w/{name}/start'];

/** Forbids foreign resources, inline scripts, and the conversion of text to scripts. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types page-worker',
].join('; ');

/** The placeholder in the document for data of the daemon. */
const BASE = '<base href="/">';

/** The page contains no data, so browsers get it without a login; it has its own login form. */
const common = { method: 'GET', access: 'page', body: 'none', errors: 'problem' } as const;

/** Returns the document of the page, which is the same for every screen and user. */
export function pageReply(
  { index }: PageFiles,
  { basePath, isLoginRequired }: { readonly basePath: string; readonly isLoginRequired: boolean },
): Reply & { readonly body: Buffer } {
  const login = isLoginRequired ? '<meta name="login" content="required">' : '';
  const body = Buffer.from(index.replace(BASE, `<base href="${escapeHtml(basePath)}/">${login}`));
  const headers = {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-cache',
    ETag: entityTag(body),
    Vary: 'Accept',
    'Content-Security-Policy': contentSecurityPolicy,
    'Cross-Origin-Opener-Policy': 'same-origin',
  };
  return { status: 200, headers, body };
}

/** Returns the routes of the page: its screens, its files, and the addresses of Blackdagger bookmarks. */
export function pageRoutes(files: PageFiles, page: Reply, basePath: string): readonly Route[] {
  const to = (location: string): Reply => ({ status: 307, headers: { Location: basePath + location }, body: null });
  const toWorkflow = ({ params: { name = '' } }: ApiRequest) => to(`/w/${encodeURIComponent(name)}`);
  return [
    ...screens.map((path) => ({ ...common, path, handle: () => page })),
    { ...common, access: 'public', path: '/assets/{file}', handle: (request) => asset(request, files) },
    { ...common, path: '/dags', handle: () => to('/') },
    { ...common, path: '/dags/{name}', handle: toWorkflow },
    { ...common, path: '/dags/{name}/{tab}', handle: toWorkflow },
  ];
}

/** Returns a file of the page. Its name contains a hash of its content, so that browsers may cache it. */
function asset({ params: { file = '' }, headers }: ApiRequest, { assets }: PageFiles): Reply {
  const found = assets.get(file);
  const available = Object.keys(found?.bodies ?? {}) as Encoding[];
  const encoding = bestEncoding(headers['accept-encoding'], available);
  const body = found?.bodies[encoding];
  if (found === undefined || body === undefined) throw new HttpError(404, 'there is nothing at this path');
  return {
    status: 200,
    headers: {
      'Content-Type': found.type,
      'Cache-Control': 'public, max-age=31536000, immutable',
      ETag: body.tag,
      Vary: 'Accept-Encoding',
      ...(encoding === 'identity' ? {} : { 'Content-Encoding': encoding }),
    },
    body: body.bytes,
  };
}

/** One file of the page, in each encoding that the build made. */
type PageFile = {
  readonly type: string;
  readonly bodies: Readonly<Partial<Record<Encoding, { readonly bytes: Buffer; readonly tag: string }>>>;
};

/** The built page: its document, and the files that the document loads, by name. */
type PageFiles = {
  readonly index: string;
  readonly assets: ReadonlyMap<string, PageFile>;
};

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const suffixes: readonly (readonly [Encoding, string])[] = [
  ['identity', ''],
  ['gzip', '.gz'],
  ['br', '.br'],
];

/** Reads the whole page, so that an update does not mix versions. Throws a `WfError` `usage` without one. */
export function readPageFiles(folder: string): PageFiles {
  try {
    const names = readdirSync(join(folder, 'assets'));
    const plain = names.filter((name) => Object.hasOwn(types, extname(name)));
    return {
      index: readFileSync(join(folder, 'index.html'), 'utf8'),
      assets: new Map(plain.map((name) => [name, readPageFile(join(folder, 'assets'), name, names)])),
    };
  } catch (error) {
    throw new WfError('usage', `the web page is missing in ${folder}`, {
      cause: error,
      help: 'install wf again, or run "npm run build" in a checkout',
    });
  }
}

function readPageFile(folder: string, name: string, names: readonly string[]): PageFile {
  const made = suffixes.filter(([, suffix]) => names.includes(name + suffix));
  const bodies = made.map(([encoding, suffix]) => {
    const bytes = readFileSync(join(folder, name + suffix));
    return [encoding, { bytes, tag: entityTag(bytes) }] as const;
  });
  return { type: types[extname(name)] ?? '', bodies: Object.fromEntries(bodies) };
}
