import { describe, expect, test } from 'vitest';
import { addresses, headerText, htmlToText, isHtml, isLocalServer, mailServer } from '#mail/send-mail.ts';
import { escapeHtml } from '#render/text/sanitize.ts';

const variables: Readonly<Record<string, string>> = { $TEAM: 'a@example.org, b@example.org', $PORT: '465', $NONE: '' };
const expand = (text: string) => text.replace(/\$\w+/g, (name) => variables[name] ?? '');

describe('addresses', () => {
  test.each([
    [['ops@example.org'], [['', 'ops@example.org']]],
    [
      ['a@x.org, b@x.org,', ' c@x.org'],
      [
        ['', 'a@x.org'],
        ['', 'b@x.org'],
        ['', 'c@x.org'],
      ],
    ],
    [
      ['$TEAM'],
      [
        ['', 'a@example.org'],
        ['', 'b@example.org'],
      ],
    ],
    [
      ['Ops <ops@x.org>, "Doe, \\"Jo\\"" <jo@x.org>'],
      [
        ['Ops', 'ops@x.org'],
        ['Doe, "Jo"', 'jo@x.org'],
      ],
    ],
    [
      ['root', 'jörg@bücher.example'],
      [
        ['', 'root'],
        ['', 'jörg@bücher.example'],
      ],
    ],
    [['me@[127.0.0.1]'], [['', 'me@[127.0.0.1]']]],
    [['$NONE', ''], []],
    [['a@x.org\n'], [['', 'a@x.org']]],
  ])('%j are parsed', (texts, found) => {
    expect(addresses(texts, 'to', expand)).toEqual(found.map(([name, address]) => ({ name, address })));
  });

  test.each([
    ['a@x.org b@x.org'],
    ['<a@x.org'],
    ['a@@x.org'],
    ['@x.org'],
    ['"a@x.org'],
    ['Ops <>'],
    ['a@x.org;b@x.org'],
  ])('%j is invalid', (text) => {
    expect(() => addresses([text], 'to', expand)).toThrow(
      `${JSON.stringify(text)} in "to" is not an address such as name@example.com`,
    );
  });

  test.each(['a@x.org\nBcc: b@x.org', 'a@x.org\r\nSubject: x', 'a@x.org\0'.concat('b')])(
    '%j cannot add a header',
    (text) => {
      expect(() => addresses([text], 'cc', expand)).toThrow(
        '"cc" contains a line break, which is not allowed in headers',
      );
    },
  );
});

test('a header contains no line break, except a trailing one in the file', () => {
  expect(headerText('  Grüße \n', 'subject')).toBe('Grüße');
  expect(() => headerText('a\nb', 'subject')).toThrow(
    '"subject" contains a line break, which is not allowed in headers',
  );
});

describe('a message', () => {
  test.each([
    '<html><body>x</body></html>',
    '\n<!DOCTYPE html>\n<html>',
    '<!-- made by hand --><p>x',
    '<p style="color: red">x</p>',
    '<H1>x</H1>',
    '<br/>x',
  ])('%j is HTML', (message) => {
    expect(isHtml(message)).toBe(true);
  });

  test.each([
    'text with <b>a tag</b>',
    '<ops@example.org> wrote',
    '<1 and >2',
    '<placeholder> is not set',
    '<',
    '',
    '<?xml version="1.0"?>',
  ])('%j is text', (message) => {
    expect(isHtml(message)).toBe(false);
  });

  test('in HTML has the same content as text', () => {
    const html = `<!doctype html>
      <html><head><title>t</title><style>p { color: red }</style></head>
      <body><!-- <p>no</p> --><h1>All &amp; done</h1><p>First<br>second&nbsp;&lt;3 &#10003; &#x2713; &what;</p>
      <table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table><ul><li>one<li>two</ul>
      <script>alert("<p>")</script><p>1 < 2</p></body></html>`;
    expect(htmlToText(html)).toBe(
      'All & done\n\nFirst\nsecond\u00a0<3 ✓ ✓ &what;\n\na  b\n\nc\n\n- one\n- two\n\n1 < 2'.replace('\u00a0', ' '),
    );
  });

  test('is converted to text in linear time', () => {
    const pieces = ['<!--', '<p ', '<style>', '&#', '<', ' '];
    for (const piece of pieces) expect(htmlToText(piece.repeat(20_000)).length).toBeLessThan(200_000);
  });

  test('in HTML shows the given text', () => {
    expect(escapeHtml(`<b a="1" c='2'>&`)).toBe('&#60;b a=&#34;1&#34; c=&#39;2&#39;&#62;&#38;');
  });
});

describe('the server', () => {
  const smtp = { host: 'mail.example.org', port: '25', username: null, password: null };
  const server = { host: 'mail.example.org', port: 25, secure: false, login: null };

  test.each([
    [smtp, server],
    [
      { ...smtp, port: '$PORT' },
      { ...server, port: 465, secure: true },
    ],
    [
      { ...smtp, port: '587' },
      { ...server, port: 587 },
    ],
    [
      { ...smtp, host: '[::1]' },
      { ...server, host: '::1' },
    ],
    [
      { ...smtp, username: 'me', password: ' p$' },
      { ...server, login: { username: 'me', password: ' p$' } },
    ],
    [{ ...smtp, username: '$NONE', password: '$NONE' }, server],
  ])('of %j', (settings, expected) => {
    expect(mailServer(settings, expand)).toEqual(expected);
  });

  test.each([
    [null, 'the workflow has no "smtp": give it the "host" of a mail server'],
    [{ ...smtp, host: '$NONE' }, '"smtp.host" is "", which is not a host name'],
    [{ ...smtp, host: 'smtp://h' }, '"smtp.host" is "smtp://h", which is not a host name'],
    [{ ...smtp, port: '' }, '"smtp.port" is "", which is not a port from 1 to 65535'],
    [{ ...smtp, port: '70000' }, '"smtp.port" is "70000", which is not a port from 1 to 65535'],
    [{ ...smtp, username: 'me' }, '"smtp.username" is given but "smtp.password" is empty'],
    [{ ...smtp, password: 'p' }, '"smtp.password" is given but "smtp.username" is empty'],
  ])('of %j is rejected', (settings, message) => {
    expect(() => mailServer(settings, expand)).toThrow(message);
  });

  test.each([
    ['localhost', true],
    ['LOCALHOST.', true],
    ['mail.localhost', true],
    ['127.0.0.1', true],
    ['127.9.9.9', true],
    ['::1', true],
    ['127.1', false],
    ['0.0.0.0', false],
    ['localhost.example.org', false],
    ['notlocalhost', false],
    ['127.0.0.1.example.org', false],
    ['::2', false],
  ])('%s is this machine: %s', (host, isNear) => {
    expect(isLocalServer({ host })).toBe(isNear);
  });
});
