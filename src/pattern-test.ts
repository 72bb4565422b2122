import type { RE2JS } from 're2js';

/**
 * Returns a function that searches a text for a valid pattern in RE2 syntax. The engine is loaded here only: few files
 * have patterns, and it takes several milliseconds.
 */
export function patternTest(pattern: string): (text: string) => boolean {
  const { RE2JS: engine } = require('re2js') as { RE2JS: typeof RE2JS };
  const compiled = engine.compile(pattern);
  return (text) => compiled.matcher(text).find();
}

/** Whether a valid pattern finds something in a text. */
export function matchesPattern(pattern: string, text: string): boolean {
  return patternTest(pattern)(text);
}
