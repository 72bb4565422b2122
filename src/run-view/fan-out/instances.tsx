import type { JSX } from 'preact';
import { formatDuration } from '#render/text.ts';
import { StatusIcon } from '../status-icon.tsx';
import { presentLook } from '../status-look.ts';
import { attemptsText, counted, MAX_TEXT, shortened } from '../step-text.ts';
import { countsText, type Instance, itemText } from './instance.ts';

/** Further instances are omitted, successful ones first. */
const MAX_INSTANCES = 500;

/** The instances of a fan-out, collapsed below the number of each status. */
export function Instances({ items }: { items: readonly Instance[] }): JSX.Element {
  const urgent = items.filter(({ status }) => status !== 'succeeded');
  const others = items.filter(({ status }) => status === 'succeeded');
  const shown = new Set([...urgent, ...others].slice(0, MAX_INSTANCES));
  const left = items.length - shown.size;
  return (
    <details class="instances" open={urgent.length > 0 && items.length <= 20}>
      <summary>
        {counted(items.length, 'instance')}: {countsText(items)}
      </summary>
      <ul class="step-rows">
        {items.map((item) => shown.has(item) && <InstanceLine key={item.name} instance={item} />)}
      </ul>
      {left > 0 && <p class="note">{counted(left, 'more instance')} succeeded or came later.</p>}
    </details>
  );
}

function InstanceLine({ instance }: { instance: Instance }): JSX.Element {
  const look = presentLook(instance);
  const why = [itemText(instance), instance.error, attemptsText(instance)];
  return (
    <li class={`step-row ${look.kind}`}>
      <StatusIcon look={look} label={look.word} />
      <span class="name">
        <bdi>{instance.name}</bdi>
      </span>
      <span class="why">{shortened(why.filter(Boolean).join(' · '), MAX_TEXT)}</span>
      <span class="took">{instance.durationMs !== null && formatDuration(instance.durationMs)}</span>
    </li>
  );
}
