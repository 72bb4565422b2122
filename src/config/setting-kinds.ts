import { resolve } from 'node:path';

/** The value read, or a problem: the rest of a sentence that starts with the name of the setting. */
export type Read<T> = { readonly value: T } | { readonly problem: string };

/** The type of a setting, and how its value is read from a flag, a variable (always text) or a file. */
export type Kind<T> = {
  /** For the reference: "whole number from 1". */
  readonly name: string;
  /** `base`: the directory that relative paths are resolved against. */
  readonly read: (value: unknown, base: string) => Read<T>;
};

/** True or false, including the spellings of YAML 1.1. */
export const flag: Kind<boolean> = {
  name: 'true or false',
  read: (value) => {
    const word = String(value).toLowerCase();
    if (['true', 'yes', 'on', '1'].includes(word)) return { value: true };
    return ['false', 'no', 'off', '0'].includes(word) ? { value: false } : { problem: 'must be true or false' };
  },
};

/** A number within inclusive limits. */
export function number({ from, to = Number.MAX_SAFE_INTEGER }: { from: number; to?: number }): Kind<number> {
  return numeric('number', from, to);
}

/** A whole number within inclusive limits. */
export function wholeNumber({ from, to = Number.MAX_SAFE_INTEGER }: { from: number; to?: number }): Kind<number> {
  return numeric('whole number', from, to);
}

/** A text that is not empty. */
export const text: Kind<string> = {
  name: 'text',
  read: (value) => (typeof value === 'string' && value !== '' ? { value } : { problem: 'must be a text' }),
};

/** An `http` or `https` address. */
export const webAddress: Kind<string> = {
  name: 'address that starts with http:// or https://',
  read: (value) => {
    const isAddress = typeof value === 'string' && /^https?:\/\/\S+$/.test(value) && URL.canParse(value);
    return isAddress ? { value } : { problem: 'must be an address that starts with http:// or https://' };
  },
};

/** A file or directory, as an absolute path. */
export const path: Kind<string> = {
  name: 'path',
  read: (value, base) =>
    typeof value === 'string' && value !== '' ? { value: resolve(base, value) } : { problem: 'must be a path' },
};

/** One of several words. */
export function oneOf<const Word extends string>(words: readonly Word[]): Kind<Word> {
  return {
    name: words.map((word) => `\`${word}\``).join(' or '),
    read: (value) => {
      const found = words.find((word) => word === value);
      return found === undefined ? { problem: `must be ${words.join(' or ')}` } : { value: found };
    },
  };
}

/** A list of words, separated by commas in a variable. */
export function listOf<const Word extends string>(words: readonly Word[]): Kind<readonly Word[]> {
  return {
    name: `list of ${words.map((word) => `\`${word}\``).join(', ')}`,
    read: (value) => {
      const list = asList(value);
      const isKnown = list.every((word): word is Word => words.some((known) => known === word));
      return isKnown ? { value: list } : { problem: `may list ${words.join(', ')}` };
    },
  };
}

/** A list of texts, separated by commas in a variable. */
export const texts: Kind<readonly string[]> = {
  name: 'list of texts',
  read: (value) => {
    const list = asList(value);
    return list.every((item) => typeof item === 'string') ? { value: list } : { problem: 'must be a list of texts' };
  },
};

/** The maximum number of concurrent runs of a queue. */
export type QueueLimit = { readonly name: string; readonly maxConcurrent: number };

/** A list of `{name, maxConcurrent}`, or of texts `name=2`. */
export const queueLimits: Kind<readonly QueueLimit[]> = {
  name: 'list of `{name, maxConcurrent}`',
  read: (value) => {
    const limits = asList(value).map(queueLimit);
    const isValid = limits.every((limit) => limit !== null);
    return isValid ? { value: limits } : { problem: 'must be a list such as [{name: db, maxConcurrent: 2}] or db=2' };
  },
};

function queueLimit(value: unknown): QueueLimit | null {
  const [, name, limit] = typeof value === 'string' ? (/^(.+)=(\d+)$/.exec(value) ?? []) : queueFields(value);
  const maxConcurrent = typeof limit === 'string' ? Number(limit) : limit;
  const fits = typeof maxConcurrent === 'number' && Number.isInteger(maxConcurrent) && maxConcurrent >= 1;
  return typeof name === 'string' && name.trim() !== '' && fits ? { name: name.trim(), maxConcurrent } : null;
}

function queueFields(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  const { name, maxConcurrent, ...rest } = value as Record<string, unknown>;
  return Object.keys(rest).length === 0 ? [value, name, maxConcurrent] : [];
}

function numeric(name: string, from: number, to: number): Kind<number> {
  const range = to === Number.MAX_SAFE_INTEGER ? `from ${from}` : `from ${from} to ${to}`;
  return {
    name: `${name} ${range}`,
    read: (value) => {
      const found = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
      const isWhole = name === 'number' || Number.isInteger(found);
      const fits = typeof found === 'number' && found >= from && found <= to && isWhole;
      return fits ? { value: found } : { problem: `must be a ${name} ${range}` };
    },
  };
}

/** Without the empty items of a surplus comma. */
function asList(value: unknown): readonly unknown[] {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  return items
    .flatMap((item) => (typeof item === 'string' ? item.split(',').map((word) => word.trim()) : [item]))
    .filter((item) => item !== '');
}
