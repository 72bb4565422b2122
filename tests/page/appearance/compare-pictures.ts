import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import type { Page } from 'playwright-core';

const pictures = join(import.meta.dirname, 'pictures');

/** A pixel differs if a channel differs by more than this, of 255. */
const MAX_CHANNEL_DIFFERENCE = 32;
/** The largest part of a picture that may differ. */
const MAX_DIFFERENT = 0.001;

/** Compares a screenshot with the stored picture of its name; returns the difference as a sentence, null if there is none. */
export async function differenceOf(screenshot: Buffer, name: string, blank: Page): Promise<string | null> {
  const path = join(pictures, `${name}.png`);
  if (process.env['WF_UPDATE_GOLDENS'] === '1') {
    mkdirSync(pictures, { recursive: true });
    writeFileSync(path, toPng(await blank.evaluate(reduceColours, screenshot.toString('base64'))));
    return null;
  }
  if (!existsSync(path)) return `${name}: there is no picture; make it with WF_UPDATE_GOLDENS=1`;
  const both = [screenshot.toString('base64'), readFileSync(path).toString('base64')] as const;
  const compared = await blank.evaluate(comparePictures, { both, most: MAX_CHANNEL_DIFFERENCE });
  if (typeof compared === 'string') return `${name}: ${compared}`;
  if (compared.different <= MAX_DIFFERENT) return null;
  const directory = join(tmpdir(), 'wf-pictures');
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, `${name}.png`), screenshot);
  writeFileSync(join(directory, `${name}.difference.png`), Buffer.from(compared.marked, 'base64'));
  const percent = (100 * compared.different).toFixed(2);
  return `${name}: ${percent} % of the pixels differ, see ${join(directory, name)}.png and .difference.png`;
}

type Indexed = {
  readonly width: number;
  readonly height: number;
  readonly palette: readonly number[];
  /** The number of the colour of each pixel, in base64. */
  readonly pixels: string;
};

/** In the browser: a PNG with 16 levels of each channel, so that it takes a fifth of the room. */
async function reduceColours(png: string): Promise<Indexed> {
  const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
  const { width, height } = image;
  const canvas = Object.assign(document.createElement('canvas'), { width, height });
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('the browser cannot draw');
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  const numbers = new Map<number, number>();
  let pixels = '';
  for (let at = 0; at < data.length; at += 4) {
    let colour = 0;
    for (let channel = at; channel < at + 3; channel++)
      colour = 256 * colour + 17 * Math.round((data[channel] ?? 0) / 17);
    const number = numbers.get(colour) ?? numbers.size;
    numbers.set(colour, number);
    pixels += String.fromCharCode(number);
  }
  return { width, height, palette: [...numbers.keys()], pixels: btoa(pixels) };
}

/** A PNG of up to 256 colours (RFC 2083). */
function toPng({ width, height, palette, pixels }: Indexed): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const colours = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  const indexes = Buffer.from(pixels, 'base64');
  // Each row begins with its filter: none.
  const rows = Buffer.alloc((width + 1) * height);
  for (let row = 0; row < height; row++) indexes.copy(rows, row * (width + 1) + 1, row * width, (row + 1) * width);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('PLTE', colours),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

type Compared = { readonly different: number; readonly marked: string };

/** In the browser: the part of the pixels that differ, and a PNG with these in red; a text if the sizes differ. */
async function comparePictures(input: {
  readonly both: readonly [actual: string, stored: string];
  readonly most: number;
}): Promise<Compared | string> {
  const read = async (png: string) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
    const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
    const context = canvas.getContext('2d');
    if (context === null) throw new Error('the browser cannot draw');
    context.drawImage(image, 0, 0);
    return { canvas, context, data: context.getImageData(0, 0, image.width, image.height) };
  };
  const actual = await read(input.both[0]);
  const stored = await read(input.both[1]);
  const { width, height } = actual.canvas;
  if (width !== stored.canvas.width || height !== stored.canvas.height)
    return `${width} x ${height} pixels instead of ${stored.canvas.width} x ${stored.canvas.height}`;
  let count = 0;
  const [a, b] = [actual.data.data, stored.data.data];
  for (let at = 0; at < a.length; at += 4) {
    let difference = 0;
    for (let channel = at; channel < at + 3; channel++)
      difference = Math.max(difference, Math.abs((a[channel] ?? 0) - (b[channel] ?? 0)));
    if (difference <= input.most) {
      a[at + 3] = 60;
      continue;
    }
    count++;
    a.set([255, 0, 0, 255], at);
  }
  actual.context.putImageData(actual.data, 0, 0);
  return {
    different: count / (width * height),
    marked: actual.canvas.toDataURL('image/png').replace(/^.*,/, ''),
  };
}
