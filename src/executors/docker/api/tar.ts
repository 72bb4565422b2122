const blockLength = 512;

/**
 * Creates a tar archive of one file that everyone may read and execute. Source: POSIX.1-2017, pax, ustar interchange
 * format.
 */
export function tarOfFile(name: string, text: string): Buffer {
  const content = Buffer.from(text);
  const padding = Buffer.alloc((blockLength - (content.length % blockLength)) % blockLength);
  // An archive ends with two empty blocks.
  return Buffer.concat([header(name, content.length), content, padding, Buffer.alloc(2 * blockLength)]);
}

function header(name: string, length: number): Buffer {
  const block = Buffer.alloc(blockLength);
  block.write(name, 0, 100, 'latin1');
  block.write('0000755\0', 100, 'latin1');
  block.write('0000000\0', 108, 'latin1');
  block.write('0000000\0', 116, 'latin1');
  block.write(`${length.toString(8).padStart(11, '0')}\0`, 124, 'latin1');
  block.write('00000000000\0', 136, 'latin1');
  // The checksum treats its own field as blanks.
  block.write('        ', 148, 'latin1');
  block.write('0', 156, 'latin1');
  block.write('ustar\u000000', 257, 'latin1');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}
