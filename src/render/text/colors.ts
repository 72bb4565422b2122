import { Chalk, type ChalkInstance } from 'chalk';

/** Colours for the text of `wf`: the 16 that every theme defines, or none, as the `Terminal` of the caller says. */
export function createColors(color: boolean): ChalkInstance {
  return new Chalk({ level: color ? 1 : 0 });
}

/** Red is reserved for failures. */
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

/** Returns the colour of the step at `index` in its file: always the same, and different from its neighbours. */
export function colorStep(colors: ChalkInstance, index: number, text: string): string {
  return colors[stepColors[index % stepColors.length] ?? 'cyan'](text);
}
