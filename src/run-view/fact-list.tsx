import type { ComponentChildren } from 'preact';

/** A name and a value. */
export type Fact = readonly [name: string, value: ComponentChildren];

/** Names and values; null, false and empty values are omitted. `kind`: further classes. */
export function FactList({ facts, kind = '' }: { facts: readonly Fact[]; kind?: string }) {
  const known = facts.filter(([, value]) => value !== null && value !== undefined && value !== false && value !== '');
  if (known.length === 0) return null;
  return (
    <dl class={`facts-list ${kind}`}>
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
