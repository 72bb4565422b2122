import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { browserPath } from '../support/browser.ts';
import { describeWith } from '../support/require.ts';
import { accessibilityProblems, withPage } from './visits.ts';

/** A picture of one pixel. */
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const files = {
  'build.yaml': `
steps:
  - name: build
    script: |
      mkdir -p "dist/a b"
      printf '<script>alert(1)</script> *not bold*' > "dist/a b/page.html"
      echo ${PIXEL} | base64 -d > dist/pixel.png
      head -c 1500000 /dev/zero > dist/large.txt
      echo data > dist/archive.bin
    artifacts: dist/**
`,
  'bare.yaml': 'steps: [{ name: one, command: "true" }]\n',
};

describeWith('chromium', browserPath !== null, 'the files that a run has kept, in a browser', () => {
  it('are listed with their sizes, shown without running anything, and saved byte for byte', async () => {
    await withPage(files, async ({ open, start }) => {
      const page = await open(`/runs/${await start('build')}?view=artifacts`);
      const line = (name: string) => page.locator('.artifacts li', { hasText: name });
      await line('build/dist/large.txt').getByText('1.4 MiB').waitFor();
      await page.getByText('4 files, 1.4 MiB').waitFor();
      // Files that are large, or of an unknown type, can only be saved.
      expect(await page.getByRole('button', { name: /^Show / }).allTextContents()).toEqual(['Show', 'Show']);
      await page.getByRole('button', { name: 'Show build/dist/a b/page.html' }).click();
      await page.getByText('<script>alert(1)</script> *not bold*').waitFor();
      await page.getByRole('button', { name: 'Show build/dist/pixel.png' }).click();
      const image = page.getByRole('img', { name: 'build/dist/pixel.png' });
      await expect.poll(() => image.evaluate((each) => (each as HTMLImageElement).naturalWidth)).toBe(1);
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.getByRole('button', { name: 'Hide build/dist/pixel.png' }).click();
      await image.waitFor({ state: 'detached' });

      const saved = page.waitForEvent('download');
      await page.getByRole('link', { name: 'build/dist/pixel.png' }).click();
      const download = await saved;
      expect(download.suggestedFilename()).toBe('pixel.png');
      expect(readFileSync(await download.path()).toString('base64')).toBe(PIXEL);
      const archive = page.waitForEvent('download');
      await page.getByRole('link', { name: 'Save all of them' }).click();
      expect((await archive).suggestedFilename()).toMatch(/\.tar\.gz$/);
    });
  });

  it('are missing in a run that keeps none', async () => {
    await withPage(files, async ({ open, start }) => {
      const page = await open(`/runs/${await start('bare')}`);
      await page.locator('.run-header').waitFor();
      await page.keyboard.press('8');
      await page.getByText('No step of this run has kept files.').waitFor();
    });
  });
});
