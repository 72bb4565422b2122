import { expect, test } from 'vitest';
import { httpServer } from '../support/http-server.ts';
import { describeWith, isInstalled } from '../support/require.ts';
import { type Block, blocksOf } from './guide-blocks.ts';
import { play } from './guide-player.ts';
import { textOf } from './pages.ts';
import { ownDirectory } from './served.ts';

describeWith('openssl', isInstalled('openssl'), 'the guide to notifications', () => {
  test('has commands that send samples, and compute a signature', async () => {
    const sink = await httpServer((_, response) => response.end('ok'));
    const variables = `export SLACK_URL=${sink.url}/hook BODY='{}' HOOK_SECRET=key\n`;
    const blocks = blocksOf(textOf('docs/guide/notifications.md')).map(asRun);

    const played = await play(blocks, ownDirectory(), async (script) => variables + script);

    expect(played.map(({ code, printed }) => [code, printed])).toEqual([
      [0, expect.stringMatching(/[0-9a-f]{64}\n$/)],
      [0, expect.stringMatching(/^slack \(127\.0\.0\.1:\d+\): sent\n\[\n/)],
    ]);
    expect(sink.received.map(({ method, url }) => `${method} ${url}`)).toEqual(['POST /hook', 'POST /hook']);
  });
});

function asRun(block: Block): Block {
  return block.words.has('norun') ? { ...block, words: new Set(['run']) } : block;
}
