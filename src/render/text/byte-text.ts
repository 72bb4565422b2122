/** A number of bytes for display: `812 bytes`, `64 KiB`, `4.8 GiB`. */
export function byteText(bytes: number): string {
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  if (bytes < 1024) return `${bytes} byte${bytes === 1 ? '' : 's'}`;
  let value = bytes;
  let unit = '';
  while (value >= 1024 && units.length > 0) {
    value /= 1024;
    unit = units.shift() ?? '';
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}
