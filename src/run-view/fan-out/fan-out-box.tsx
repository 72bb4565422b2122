import type { JSX } from 'preact';
import { drawing, type Grid } from '../graph/graph-items.ts';
import { fitName } from '../graph/name-width.ts';
import { Frame, type PlacedNode, StepBox } from '../graph-box.tsx';
import { StatusIcon } from '../status-icon.tsx';
import { presentLook } from '../status-look.ts';
import { stepDetail, stepTitle } from '../step-text.ts';
import type { StepView } from '../view.ts';
import { countedName, FOLD_ROOM, type Instance, instanceStep, type Unfolding } from './instance.ts';
import { cellAt, Squares } from './squares.tsx';

type BoxProps = {
  readonly node: PlacedNode;
  readonly step: StepView;
  readonly href: string;
  readonly hrefOfInstance: (key: string) => string;
  readonly choose: (key: string) => void;
  /** The name of the selected step or instance. */
  readonly selected: string | null;
  readonly isCritical: boolean;
  readonly unfolding: Unfolding;
};

/** A fan-out in a graph, which can be expanded to its instances. */
export function FanOutBox({
  node,
  step,
  href,
  hrefOfInstance,
  choose,
  selected,
  isCritical,
  unfolding,
}: BoxProps): JSX.Element {
  const items = step.items ?? [];
  const isSelected = selected === node.name || items.some(({ name }) => name === selected);
  return (
    <>
      {node.instances === null ? (
        <StepBox node={node} step={step} href={href} isSelected={isSelected} isCritical={isCritical} room={FOLD_ROOM} />
      ) : (
        <OpenBox node={node} step={step} href={href} isSelected={isSelected} isCritical={isCritical} />
      )}
      {items.length > 0 && <Fold node={node} step={step} unfolding={unfolding} />}
      {node.instances?.isNamed === true &&
        items.map((instance, index) => (
          <NamedInstance
            key={instance.key}
            instance={instance}
            grid={node.instances as Grid}
            index={index}
            href={hrefOfInstance(instance.key)}
            isSelected={instance.name === selected}
          />
        ))}
      {node.instances?.isNamed === false && (
        <Squares items={items} grid={node.instances} hrefOf={hrefOfInstance} choose={choose} selected={selected} />
      )}
    </>
  );
}

type OpenBoxProps = Pick<BoxProps, 'node' | 'step' | 'href' | 'isCritical'> & { readonly isSelected: boolean };

function OpenBox({ node, step, href, isSelected, isCritical }: OpenBoxProps): JSX.Element {
  const look = presentLook(step);
  const names = [look.kind, 'open', isSelected && 'selected', isCritical && 'critical'].filter(Boolean);
  return (
    <a href={href} class={names.join(' ')}>
      <title>{stepTitle(step, node.needs)}</title>
      <Frame name="box" radius={9} width={node.width} height={node.height} />
      <svg x={10} y={13} aria-hidden="true">
        <StatusIcon look={look} />
      </svg>
      <text class="name" x={drawing.icon} y="18">
        {fitName(countedName(step), node.width - drawing.icon - FOLD_ROOM)}
      </text>
      <text class="detail" x={drawing.icon} y="33">
        {stepDetail(step)}
      </text>
    </a>
  );
}

function Fold({ node, step, unfolding }: Pick<BoxProps, 'node' | 'step' | 'unfolding'>): JSX.Element {
  const toggle = () => unfolding.toggle(step.name);
  return (
    <g
      class="fold"
      role="button"
      tabindex={0}
      aria-expanded={node.instances !== null}
      aria-label={`Instances of ${step.name}`}
      onClick={toggle}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        event.stopPropagation();
        toggle();
      }}
    >
      <rect class="fold-area" x={node.width - FOLD_ROOM} y="7" width="24" height="28" rx="5" />
      <path
        d={node.instances === null ? 'M0 -4l5 4-5 4z' : 'M-2 -2h9l-4.5 5z'}
        transform={`translate(${node.width - 18} 21)`}
      />
    </g>
  );
}

type CellProps = {
  readonly instance: Instance;
  readonly grid: Grid;
  readonly index: number;
  readonly href: string;
  readonly isSelected: boolean;
};

function NamedInstance({ instance, grid, index, href, isSelected }: CellProps): JSX.Element {
  const look = presentLook(instance);
  const { cellWidth: width, cellHeight: height } = grid;
  return (
    <svg {...cellAt(grid, index)} width={width} height={height}>
      <a href={href} class={isSelected ? `${look.kind} selected` : look.kind}>
        <title>{stepTitle(instanceStep(instance), [])}</title>
        <Frame name="box" radius={7} width={width} height={height} />
        <svg x={7} y={5} aria-hidden="true">
          <StatusIcon look={look} />
        </svg>
        <text class="name" x="29" y="17.5">
          {fitName(instance.key, width - drawing.icon)}
        </text>
      </a>
    </svg>
  );
}
