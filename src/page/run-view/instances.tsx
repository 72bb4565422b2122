import type { JSX } from 'preact';
import { presentLook } from '../../render/report/status-look.ts';
import { formatDuration } from '../../render/text/duration.ts';
import { StatusIcon } from '../parts/status-icon.tsx';
import { counted } from './step-text.ts';
import { MAX_TEXT, type StepView, shortened } from './view.ts';

type Instance = NonNullable<StepView['items']>[number];

/** More instances are left out, successful ones first. */
const MAX_INSTANCES = 500;

/** The instances of a fan-out, folded under how many have each status. */
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
  const item = typeof instance.item === 'object' ? JSON.stringify(instance.item) : String(instance.item);
  const why = [
    item !== instance.key && item,
    instance.error,
    instance.attempts > 1 && counted(instance.attempts, 'attempt'),
  ];
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

/** `3 succeeded, 1 failed`. */
function countsText(items: readonly Instance[]): string {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(presentLook(item).word, (counts.get(presentLook(item).word) ?? 0) + 1);
  return Array.from(counts, ([word, count]) => `${count} ${word}`).join(', ');
}
