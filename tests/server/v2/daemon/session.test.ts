import { once } from 'node:events';
import { request } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { type Answer, jsonOf, type Sent } from '../../../support/api-server.ts';
import { type ApiWorld, apiWorld } from '../../../support/api-world.ts';

const files = { 'hello.yaml': 'steps: [{name: a, command: "true"}]\n' };
const login = { token: 'the-token', readOnlyToken: 'look-only', basic: { username: 'anna', password: 'p:w' } };
const path = '/api/v2/session';

type Told = { logins: string[]; access: string | null; name: string | null; csrf: string | null };
/** A browser that has logged in. */
type Browser = { readonly cookie: string; readonly csrf: string; readonly attributes: string };

function logIn({ ask }: Pick<ApiWorld, 'ask'>, body: object, headers: Sent['headers'] = {}): Promise<Answer> {
  return ask('POST', path, { body, headers });
}

async function browserOf(world: ApiWorld, body: object = { token: 'the-token' }): Promise<Browser> {
  const answer = await logIn(world, body);
  const [cookie = '', ...attributes] = (answer.headers['set-cookie']?.[0] ?? '').split('; ');
  return { cookie, csrf: jsonOf<Told>(answer).csrf ?? '', attributes: attributes.join('; ') };
}

/** The headers that the page sends with a request that changes something. */
function own({ url }: ApiWorld, { cookie, csrf }: Browser): Record<string, string> {
  return { Cookie: cookie, 'X-WF-CSRF': csrf, Origin: new URL(url).origin };
}

test('each login opens a session with its access and a cookie for the page only', async () => {
  const world = await apiWorld(files, { login, basePath: '/tools/wf' }, {});
  const ask = (body: object) => world.ask('POST', `/tools/wf${path}`, { body });
  const told = async (body: object) => jsonOf<Told>(await ask(body));
  const csrf = expect.stringMatching(/^[\w-]{43}$/);
  const logins = ['password', 'token'];

  expect(await told({ token: 'the-token' })).toEqual({ logins, access: 'write', name: null, csrf });
  expect(await told({ token: 'look-only' })).toEqual({ logins, access: 'read', name: null, csrf });
  expect(await told({ name: 'anna', password: 'p:w' })).toEqual({ logins, access: 'write', name: 'anna', csrf });
  expect(await told({ name: 'anybody', password: 'look-only' })).toEqual({ logins, access: 'read', name: null, csrf });
  const { headers } = await ask({ token: 'the-token' });
  expect(headers['set-cookie']).toEqual([
    expect.stringMatching(/^wf_session=[\w-]{43}; Path=\/tools\/wf\/; HttpOnly; SameSite=Strict$/),
  ]);
  expect(headers['cache-control']).toBe('no-store');
});

test('the cookie permits reading, and the session returns its user and access', async () => {
  const world = await apiWorld(files, { login });
  const { cookie, csrf } = await browserOf(world, { name: 'anna', password: 'p:w' });
  const headers = { Cookie: `theme=dark; ${cookie}` };

  expect((await world.ask('GET', '/api/v2/workflows', { headers })).status).toBe(200);
  expect((await world.ask('GET', '/api/v1/dags', { headers })).status).toBe(200);
  expect(jsonOf(await world.ask('GET', path, { headers }))).toMatchObject({ access: 'write', name: 'anna', csrf });
  expect(jsonOf(await world.ask('GET', path))).toMatchObject({ access: null, name: null, csrf: null });
  const bearer = { Authorization: 'Bearer look-only' };
  expect(jsonOf(await world.ask('GET', path, { headers: bearer }))).toMatchObject({ access: 'read', csrf: null });
  expect((await world.ask('GET', path, { headers: { Authorization: 'Bearer wrong' } })).status).toBe(401);
});

test('every route that changes something requires the CSRF token and the origin of the page', async () => {
  const world = await apiWorld(files, { login });
  const browser = await browserOf(world);
  const other = await browserOf(world);
  const headers = own(world, browser);
  const { Origin: _, ...noOrigin } = headers;
  const { 'X-WF-CSRF': __, ...noToken } = headers;
  const refused: readonly Record<string, string>[] = [
    noToken,
    noOrigin,
    { ...headers, 'X-WF-CSRF': '' },
    { ...headers, 'X-WF-CSRF': other.csrf },
    { ...headers, 'X-WF-CSRF': browser.csrf.slice(1) },
    { ...headers, Origin: 'https://evil.com' },
    { ...headers, Origin: 'null' },
    { ...headers, Origin: world.url.replace(/:\d+$/, ':1') },
    { ...noOrigin, 'Sec-Fetch-Site': 'same-origin' },
  ];
  // The route of workers takes no session.
  const isForPeople = ({ access }: { readonly access: string }) => access !== 'public' && access !== 'worker';
  const unsafe = world.routes.filter((route) => route.method !== 'GET' && isForPeople(route));

  expect(unsafe.length).toBeGreaterThan(10);
  for (const route of unsafe) {
    const at = route.path.replace(/\{\w+\}/g, 'nothing');
    for (const sent of refused) {
      expect([at, sent, (await world.ask(route.method, at, { headers: sent })).status]).toEqual([at, sent, 403]);
    }
    const { status } = route.path === path ? { status: 0 } : await world.ask(route.method, at, { headers });
    expect([at, status === 403]).toEqual([at, route.errors === 'v1']);
  }
  expect((await world.ask('GET', path, { headers })).status).toBe(200);
});

test('other logins need no CSRF token, even with the cookie of a session', async () => {
  const world = await apiWorld(files, { login });
  const { cookie } = await browserOf(world);
  const headers = { Authorization: 'Bearer the-token', Cookie: cookie };

  expect((await world.ask('POST', '/api/v2/workflows/hello/runs', { headers })).status).toBe(201);
  expect((await world.ask('POST', '/api/v1/dags/hello', { headers, body: { action: 'start' } })).status).toBe(200);
});

test('the session of a read-only login changes nothing', async () => {
  const world = await apiWorld(files, { login });
  const headers = own(world, await browserOf(world, { token: 'look-only' }));

  const { status, body } = await world.ask('POST', '/api/v2/workflows/hello/runs', { headers });

  expect([status, JSON.parse(body).detail]).toEqual([403, 'this login is read-only']);
});

test('a logout invalidates the cookie and ends the streams of the session', async () => {
  const world = await apiWorld(files, { login });
  const browser = await browserOf(world);
  const headers = own(world, browser);
  const stream = await openStream(world, browser.cookie);
  const bystander = await openStream(world, (await browserOf(world)).cookie);

  const answer = await world.ask('DELETE', path, { headers });

  expect([answer.status, answer.headers['set-cookie']]).toEqual([
    204,
    ['wf_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0'],
  ]);
  await stream.ended;
  expect(bystander.hasEnded()).toBe(false);
  const replayed = await world.ask('GET', '/api/v2/workflows', { headers });
  expect([replayed.status, JSON.parse(replayed.body).detail]).toEqual([401, 'the session has ended: log in again']);
  expect((await world.ask('DELETE', path, { headers })).status).toBe(401);
});

test('a login replaces the session of the browser', async () => {
  const world = await apiWorld(files, { login });
  const first = await browserOf(world);
  const again = await logIn(world, { token: 'look-only' }, { Cookie: first.cookie });

  expect(again.status).toBe(200);
  expect((await world.ask('GET', '/api/v2/workflows', { headers: { Cookie: first.cookie } })).status).toBe(401);
});

test('a changed or invented cookie is rejected, and does not hide a valid one', async () => {
  const world = await apiWorld(files, { login });
  const { cookie } = await browserOf(world);
  const [, secret = ''] = cookie.split('=');
  const flipped = secret.replace(/^./, (letter) => (letter === 'A' ? 'B' : 'A'));
  const wrong = ['', 'x', flipped, `${secret}x`, secret.slice(1), secret.toUpperCase(), 'A'.repeat(43), `"${secret}"`];

  for (const value of wrong) {
    const headers = { Cookie: `wf_session=${value}` };
    expect([value, (await world.ask('GET', '/api/v2/workflows', { headers })).status]).toEqual([value, 401]);
  }
  const several = { Cookie: `wf_session=${flipped}; ${cookie}` };
  expect((await world.ask('GET', '/api/v2/workflows', { headers: several })).status).toBe(200);
});

test('wrong logins share the limit of the header, and a right one is always accepted', async () => {
  const world = await apiWorld(files, { login }, { now: () => 0 });
  const tried = async (body: object) => (await logIn(world, body)).status;

  for (let i = 0; i < 3; i += 1) expect(await tried({ token: `wrong-${i}` })).toBe(401);
  for (let i = 0; i < 3; i += 1) expect(await tried({ name: 'anna', password: `wrong-${i}` })).toBe(401);
  expect(await tried({ token: 'wrong-3' })).toBe(429);
  const headers = { Authorization: 'Bearer wrong-4' };
  expect((await world.ask('GET', '/api/v2/workflows', { headers })).status).toBe(429);
  expect(await tried({ token: 'the-token' })).toBe(200);
});

test('an invalid login is rejected', async () => {
  const world = await apiWorld(files, { login });
  const bodies = [{}, { name: 'anna' }, { token: 'the-token', password: 'p:w' }, { token: 7 }, { tokn: 'x' }, []];

  for (const body of bodies) expect([body, (await logIn(world, body)).status]).toEqual([body, 400]);
  const form = await world.ask('POST', path, { body: new URLSearchParams({ token: 'the-token' }) });
  expect([form.status, form.headers['set-cookie']]).toEqual([415, undefined]);
  const foreign = await logIn(world, { token: 'the-token' }, { Origin: 'https://evil.com' });
  expect([foreign.status, foreign.headers['set-cookie']]).toEqual([403, undefined]);
});

test('without a login in the settings no session is created', async () => {
  const world = await apiWorld(files);
  const told = { logins: [], access: 'write', name: null, csrf: null };

  const answer = await logIn(world, { token: 'any' });

  expect([jsonOf(answer), answer.headers['set-cookie']]).toEqual([told, undefined]);
  expect(jsonOf(await world.ask('GET', path))).toEqual(told);
});

test('behind a trusted proxy with TLS the cookie is secure and the origin is https', async () => {
  const host = 'ops.example.com';
  const world = await apiWorld(files, { login, trustedProxies: ['127.0.0.1'], allowedHosts: [host] });
  const proxied = { Host: host, 'X-Forwarded-Proto': 'https' };
  const answer = await logIn(world, { token: 'the-token' }, proxied);
  const [cookie = ''] = answer.headers['set-cookie'] ?? [];
  const send = async (Origin: string) => {
    const headers = { ...proxied, Origin, Cookie: cookie.split(';')[0], 'X-WF-CSRF': jsonOf<Told>(answer).csrf ?? '' };
    return (await world.ask('POST', '/api/v2/workflows/hello/runs', { headers })).status;
  };

  expect(cookie).toMatch(/; Secure$/);
  expect(await send(`http://${host}`)).toBe(403);
  expect(await send(`https://${host}`)).toBe(201);
});

/** Opens the stream of all changes, which `ask` would end. */
async function openStream({ address }: ApiWorld, Cookie: string) {
  const options = { host: address.host, port: address.port, path: '/api/v2/events', headers: { Cookie } };
  const asked = request(options).end();
  onTestFinished(() => void asked.destroy());
  const [answer] = await once(asked, 'response');
  let isEnded = false;
  const ended = once(answer.resume(), 'end').then(() => {
    isEnded = true;
  });
  ended.catch(() => {});
  return { ended, hasEnded: () => isEnded };
}
