import { useMemo, useRef } from 'preact/hooks';
import type { StepView } from '#run-view/api/types.ts';
import { StepRow } from '#run-view/components.ts';
import { type EarlierRun, type Unfolding, unfolded } from '#run-view/texts.ts';
import { now } from '../../parts/time.tsx';
import { useDrawnRows } from '../../parts/virtual-list.tsx';
import { hrefOfStep } from './run-address.ts';

/** In pixels, as in the style sheet; larger on touch screens. */
const rowHeight = matchMedia('(max-width: 640px), (pointer: coarse)').matches ? 44 : 36;

type RowsProps = {
  readonly steps: readonly StepView[];
  readonly selected: string | null;
  readonly earlier: EarlierRun | null;
  readonly unfolding?: Unfolding;
  /** Absent for the rows of a pane. */
  readonly label?: string;
};

/** Steps as rows, with the instances of expanded fan-outs. */
export function StepRows({ steps, selected, earlier, unfolding, label }: RowsProps) {
  const list = useRef<HTMLUListElement>(null);
  const rows = useMemo(() => unfolded(steps, unfolding?.names ?? new Set()), [steps, unfolding]);
  const { first, last, before, after } = useDrawnRows(list, rows.length, rowHeight);
  return (
    <ul class={`step-rows ${label === undefined ? 'rows' : 'then'}`} ref={list} aria-label={label}>
      {before > 0 && <li aria-hidden="true" style={{ height: `${before}px` }} />}
      {rows.slice(first, last).map(({ step, instance, of }, index) => (
        <StepRow
          key={step.name}
          step={step}
          instance={instance}
          href={hrefOfStep(of ?? step.name, instance?.key)}
          isSelected={step.name === selected}
          now={now.value}
          earlier={earlier}
          unfolding={unfolding}
          position={{ index: first + index, count: rows.length }}
        />
      ))}
      {after > 0 && <li aria-hidden="true" style={{ height: `${after}px` }} />}
    </ul>
  );
}
