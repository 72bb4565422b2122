import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { RunHead, StepView } from '#run-view/api/types.ts';
import { ROW_HEIGHT, Timeline, TimelineLegend, timelineRows, timeScale } from '#run-view/components.ts';
import { counted, type Unfolding } from '#run-view/texts.ts';
import type { ShownRun } from '../../data/shown-run.ts';
import { Button } from '../../parts/controls.tsx';
import { now } from '../../parts/time.tsx';
import { useDrawnRows } from '../../parts/virtual-list.tsx';
import { hrefOfStep } from './run-address.ts';

type TimelineProps = {
  readonly run: ShownRun;
  readonly head: RunHead;
  readonly steps: readonly StepView[];
  readonly selected: string | null;
  readonly critical: ReadonlySet<string>;
  readonly unfolding: Unfolding;
};

/** A shorter drag over the axis is a click, in pixels. */
const SHORTEST_DRAG = 4;

/** The timeline of a run. Dragging over the axis zooms into a part of the time. */
export function RunTimeline({ run, head, steps, selected, critical, unfolding }: TimelineProps) {
  const part = useSignal<{ readonly from: number; readonly to: number } | null>(null);
  const count = run.view.value?.steps.length ?? 0;
  const graph = run.view.value?.graph ?? null;
  const view = { run: head, steps: steps.slice(0, count), handlers: steps.slice(count), graph };
  const rows = timelineRows(view, unfolding.names);
  const area = useRef<HTMLDivElement>(null);
  const { first, last } = useDrawnRows(area, rows.length, ROW_HEIGHT);
  const whole = timeScale(
    Date.parse(head.startedAt ?? head.createdAt),
    head.finishedAt === null ? now.value : Date.parse(head.finishedAt),
  );
  const scale = part.value === null ? whole : timeScale(part.value.from, part.value.to);
  const left = steps.length - rows.filter(({ of }) => of === null).length;
  return (
    <>
      <div class="scroll rows" ref={area}>
        <Timeline
          rows={rows.slice(first, last)}
          outside={{ above: first, below: rows.length - last }}
          scale={scale}
          now={now.value}
          hrefOf={hrefOfStep}
          unfolding={unfolding}
          selected={selected}
          critical={critical}
          brush={<Brush scale={scale} onChoose={(chosen) => (part.value = chosen)} />}
        />
      </div>
      {part.value !== null && <Button class="plain" text="Show the whole run" onClick={() => (part.value = null)} />}
      {left > 0 && (
        <p class="note">
          {counted(left, 'step')} {left === 1 ? 'has' : 'have'} not started.
        </p>
      )}
      <TimelineLegend />
    </>
  );
}

type BrushProps = {
  readonly scale: { readonly from: number; readonly to: number };
  readonly onChoose: (part: { readonly from: number; readonly to: number }) => void;
};

/** An area over the axis that selects a part of the time by dragging. */
function Brush({ scale, onChoose }: BrushProps) {
  const drag = useSignal<{ readonly start: number; readonly end: number } | null>(null);
  const offsetAt = (event: PointerEvent & { currentTarget: HTMLElement }) =>
    event.clientX - event.currentTarget.getBoundingClientRect().left;
  return (
    <div
      class="brush"
      title="Drag to zoom in on a part"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        drag.value = { start: offsetAt(event), end: offsetAt(event) };
      }}
      onPointerMove={(event) => {
        if (drag.value !== null) drag.value = { start: drag.value.start, end: offsetAt(event) };
      }}
      onPointerUp={(event) => {
        const width = event.currentTarget.clientWidth;
        const { start, end } = drag.value ?? { start: 0, end: 0 };
        drag.value = null;
        if (Math.abs(end - start) < SHORTEST_DRAG) return;
        const at = (x: number) => scale.from + ((scale.to - scale.from) * Math.min(width, Math.max(0, x))) / width;
        onChoose({ from: at(Math.min(start, end)), to: at(Math.max(start, end)) });
      }}
    >
      {drag.value !== null && (
        <span
          style={{
            left: `${Math.min(drag.value.start, drag.value.end)}px`,
            width: `${Math.abs(drag.value.end - drag.value.start)}px`,
          }}
        />
      )}
    </div>
  );
}
