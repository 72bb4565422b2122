import type { StepView } from '../api/types.ts';
import { presentLook, StatusIcon, type StatusLook } from '../status.tsx';
import { countedName, stepDetail, stepTitle } from '../texts.ts';
import { drawing, fitName, type Grid } from './graph-items.ts';

/** A step in a drawing. */
export type PlacedNode = {
  readonly number: number;
  readonly name: string;
  readonly needs: readonly string[];
  readonly form: 'box' | 'named' | 'square';
  /** The grid of the instances of an expanded fan-out, else null. */
  readonly instances: Grid | null;
  readonly width: number;
  readonly height: number;
};

type StepBoxProps = {
  readonly node: PlacedNode;
  readonly step: StepView;
  readonly href: string;
  readonly isSelected?: boolean;
  readonly isCritical?: boolean;
  /** Width reserved on the right for a control, in pixels. */
  readonly room?: number;
  readonly name?: string;
};

/** A step of a run, as a link that selects it. */
export function StepBox({ node, step, href, isSelected, isCritical, room, name = countedName(step) }: StepBoxProps) {
  const look = presentLook(step);
  const isOpen = node.instances !== null;
  const names = [look.kind, isOpen && 'open', isSelected && 'selected', isCritical && 'critical'].filter(Boolean);
  return (
    <a href={href} class={names.join(' ')}>
      <title>{stepTitle(step, node.needs)}</title>
      <Shape node={{ ...node, name }} look={look} detail={stepDetail(step)} room={room} />
    </a>
  );
}

/** A step of a file. */
export function PlainBox({ node, executor }: { node: PlacedNode; executor: string }) {
  return (
    <g class="plain-step">
      {(node.form === 'square' || shownName(node) !== node.name) && <title>{node.name}</title>}
      <Shape node={node} look={null} detail={executor} />
    </g>
  );
}

type ShapeProps = { node: PlacedNode; look: StatusLook | null; detail: string; room?: number | undefined };

/** A box with name and detail, one with the name alone, or a plain square. */
function Shape({ node: { name, form, instances, width, height }, look, detail, room = 0 }: ShapeProps) {
  if (form === 'square') return <Frame name="cell" radius={3} width={width} height={height} />;
  const icon = form === 'box' ? { x: 10, y: 13 } : { x: 7, y: 5 };
  const radius = instances === null ? 7 : 9;
  const left = look === null ? 12 : form === 'box' ? drawing.icon : 29;
  return (
    <>
      <Frame name="box" radius={radius} width={width} height={height} />
      {look !== null && (
        <svg {...icon} aria-hidden="true">
          <StatusIcon look={look} />
        </svg>
      )}
      <text class="name" x={left} y={form === 'box' ? 18 : 17.5}>
        {shownName({ name, width }, room)}
      </text>
      {form === 'box' && (
        <text class="detail" x={left} y="33">
          {detail}
        </text>
      )}
    </>
  );
}

/** The name in a box, cut if the box is too narrow; `room`: as in `StepBox`. */
function shownName({ name, width }: Pick<PlacedNode, 'name' | 'width'>, room = 0): string {
  return fitName(name, width - drawing.icon - room);
}

type FrameProps = { readonly name: string; readonly radius: number; readonly width: number; readonly height: number };

/** The outline of a box. */
export function Frame({ name, radius, width, height }: FrameProps) {
  return <rect class={name} x="0.5" y="0.5" width={width - 1} height={height - 1} rx={radius} />;
}
