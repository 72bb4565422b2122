import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { certificateFile, closedPort, httpServer } from '../support/http-server.ts';
import { describeWithAll, isInstalled } from '../support/require.ts';
import { type Block, blocksOf, wfCalls } from './guide-blocks.ts';
import { play, shows, withoutChance } from './guide-player.ts';
import { pages, textOf } from './pages.ts';
import { ownDirectory, type Served, serveAs } from './served.ts';

const guide = resolve(import.meta.dirname, '../../docs/guide');
const programs = { curl: isInstalled('curl'), jq: isInstalled('jq'), openssl: isInstalled('openssl') };

describeWithAll(programs, 'a guide to the daemon, followed with one that runs', () => {
  test.each(['serving', 'security', 'monitoring', 'remote', 'scheduling', 'web-page'])(
    '%s',
    { timeout: 60_000 },
    async (name) => {
      const directory = ownDirectory();
      const blocks = blocksOf(readFileSync(join(guide, `${name}.md`), 'utf8'));
      const place = await placeIn(directory);
      let daemon: Served | null = null;
      // It is started by the first request, when all that the page has before that is there.
      const played = await play(blocks.map(asRun), directory, async (script) => {
        if (!/127\.0\.0\.1|ops\.example\.com|^wf logs/.test(script)) return script;
        daemon ??= await startFor(blocks, place);
        if (script.includes('action=stop')) await untilRunning(daemon, 'slow');
        return withPorts(script, daemon.port, place.monitorPort);
      });
      expect(played.length).toBeGreaterThan(0);
      for (const { command, code, exit, printed, shown } of played) {
        expect({ command, code, printed }).toEqual({ command, code: exit, printed });
        expect(printed).not.toContain('No such file');
        if (shown !== null && !shows(shown, printed)) expect(withoutChance(printed)).toBe(withoutChance(shown));
      }
    },
  );
});

test('every daemon of the pages starts as they start it', { timeout: 60_000 }, async () => {
  const calls = pages
    .filter((page) => page !== 'CONTRIBUTING.md')
    .flatMap((page) => blocksOf(textOf(page)).filter(({ language }) => language === 'sh'))
    .flatMap(({ text }) => wfCalls(text).filter(([command]) => command === 'serve'));
  // A survey starts those on a Temporal server.
  const local = calls.filter((words) => !words.includes('--engine'));
  const daemons = [...new Set(local.map((words) => words.join(' ')))];
  expect(daemons.length).toBeGreaterThan(6);
  for (const daemon of daemons) {
    const home = ownDirectory();
    for (const folder of ['.config/wf', 'trial-dags']) mkdirSync(join(home, folder), { recursive: true });
    writeFileSync(join(home, '.config/wf/token'), 'a-token-of-the-reader\n', { mode: 0o600 });
    copyFileSync(certificateFile, join(home, 'cert.pem'));
    copyFileSync(join(certificateFile, '../key.pem'), join(home, 'key.pem'));
    const [, ...options] = daemon.replaceAll('~', home).split(' ');
    const { url } = await serveAs(options, { env: { HOME: home }, cwd: home });
    expect([daemon, url]).toEqual([daemon, expect.stringMatching(/^https?:/)]);
  }
});

test('the guide to serving names exactly the routes of the daemon', async () => {
  const page = readFileSync(join(guide, 'serving.md'), 'utf8');
  const daemon = await serveAs([], { env: { WF_HOME: ownDirectory() } });
  const answer = await fetch(`${daemon.url}/api/openapi.json`);
  const { paths } = (await answer.json()) as { paths: Record<string, Record<string, object>> };
  const served = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, 'NAME')}`),
  );
  const routes = [...page.matchAll(/`((?:GET|POST|PUT|DELETE) \/[^?`]*)/g)].map(([, route = '']) => route);
  const named = routes.map((route) => route.replace(/\/(ID|STEP|ATTEMPT|PATH)(?=\/|$)/g, '/NAME'));
  const others = ['/health', '/metrics', '/api/openapi.json', '/api/docs'];
  expect(others.filter((path) => !page.includes(path))).toEqual([]);
  expect([...new Set([...named, ...others.map((path) => `GET ${path}`)])].sort()).toEqual(served.sort());
});

type Place = { readonly env: Readonly<Record<string, string>>; readonly home: string; readonly monitorPort: string };

/** Where log forwarding is on, so that there is a monitor to be asked. */
async function placeIn(directory: string): Promise<Place> {
  const sink = await httpServer((_, response) => response.end());
  const home = join(directory, 'home');
  const monitorPort = String(await closedPort());
  const prefix = 'WF_LOG_FORWARDING';
  const forwarding = { [`${prefix}_ENABLED`]: 'true', [`${prefix}_HTTP_URL`]: sink.url };
  return { env: { HOME: home, ...forwarding, [`${prefix}_MONITOR_PORT`]: monitorPort }, home, monitorPort };
}

/** Started as the page does it first, and with the login whose token it reads. */
async function startFor(blocks: readonly Block[], { env, home }: Place): Promise<Served> {
  const texts = blocks.filter(({ words }) => words.size === 0).map(({ text }) => text);
  const [, options = ''] = texts.map((text) => /^wf serve *(.*)$/m.exec(text)).find((found) => found !== null) ?? [];
  const login = blocks.some(({ text }) => text.includes('daemon/token')) ? '--require-login' : '';
  const args = `${options} ${login}`.replaceAll('~', home).split(' ').filter(Boolean);
  writeFileSync(join(home, 'work/ops-ca.pem'), readFileSync(certificateFile));
  return serveAs(args, { env, cwd: home });
}

/** A reader takes so long by nature; what still waits to be started is canceled without its handlers. */
async function untilRunning({ url }: Served, workflow: string): Promise<void> {
  const ask = async () => (await fetch(`${url}/api/v1/dags/${workflow}`)).json() as Promise<object>;
  await expect.poll(ask).toMatchObject({ DAG: { Status: { StatusText: 'running' } } });
}

/** What the check of all pages leaves alone, since it needs a daemon. */
function asRun(block: Block): Block {
  return block.words.has('norun') ? { ...block, words: new Set(['run']) } : block;
}

function withPorts(script: string, port: string, monitorPort: string): string {
  return script
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`)
    .replaceAll('https://ops.example.com', `http://127.0.0.1:${port}`)
    .replaceAll('127.0.0.1:8091', `127.0.0.1:${monitorPort}`);
}
