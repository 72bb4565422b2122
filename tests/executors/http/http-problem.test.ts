import { expect, test } from 'vitest';
import { explainRequestError } from '#executors/http/http-problem.ts';

const context = { url: new URL('https://example.com/'), proxy: null, canSkipTls: true };

test.each([
  ['OpenSSL 3.0 of Node 20', 'sslv3 alert handshake failure:../deps/openssl/openssl/ssl/record/rec_layer_s3.c:1601'],
  ['OpenSSL 3.5 of Node 22', 'ssl/tls alert handshake failure:../deps/openssl/openssl/ssl/record/rec_layer_s3.c:918'],
])('an alert of TLS 1.2 is explained in the words of %s', (_name, text) => {
  const message = `write EPROTO 803C2A87347F0000:error:0A000410:SSL routines:ssl3_read_bytes:${text}:SSL alert number 40\n`;

  expect(explainRequestError(Object.assign(new Error(message), { code: 'EPROTO' }), context)).toBe(
    'the server refused the TLS connection (handshake failure); if it requires a client certificate, an http step has none: use a command step with curl --cert FILE --key FILE',
  );
});
