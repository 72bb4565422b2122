import { join } from 'node:path';

/** The root of the package. The bundles lie one level below it, the sources two. */
export const packageRoot = join(import.meta.dirname, /[\\/]src[\\/]app$/.test(import.meta.dirname) ? '../..' : '..');
