import type { JSX } from 'preact';
import type { Instance } from './instance.ts';

/** `ship[north]` below `ship`: only the part in brackets is visible. */
export function InstanceName({ instance: { name, key } }: { instance: Instance }): JSX.Element {
  return (
    <bdi title={name}>
      <span class="sr">{name.slice(0, -key.length - 2)}</span>[{key}]
    </bdi>
  );
}
