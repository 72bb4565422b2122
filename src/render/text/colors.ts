import { Chalk, type ChalkInstance } from 'chalk';

/** Colours for our own text: the 16 that every theme defines, or none at all. What decides is the caller's `Terminal`. */
export function createColors(color: boolean): ChalkInstance {
  return new Chalk({ level: color ? 1 : 0 });
}

/** Red is missing on purpose: it says "failed". */
const stepColors = [
  'cyan',
  'magenta',
  'yellow',
  'blue',
  'green',
  'cyanBright',
  'magentaBright',
  'yellowBright',
  'blueBright',
  'greenBright',
] as const;

/** The colour of the step at `index` in its file: always the same one, and never that of its neighbours. */
export function colorStep(colors: ChalkInstance, index: number, text: string): string {
  return colors[stepColors[index % stepColors.length] ?? 'cyan'](text);
}
