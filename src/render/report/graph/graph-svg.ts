import type { Graph } from '../../../core/graph.ts';
import { cut } from '../../text/fit.ts';
import { escapeControls } from '../../text/sanitize.ts';
import { type Html, html, trusted } from '../html.ts';
import { statusIcon } from '../status.ts';
import { stepLook } from '../status-look.ts';
import type { ReportStep } from '../step/report-step.ts';
import { stepDetail } from '../step/step-text.ts';
import { counted } from '../text.ts';
import { drawing, type GraphItem, type Grid, graphItems } from './graph-items.ts';
import { layOutGraph } from './graph-layout.ts';
import { arrowPath, edgePath } from './graph-paths.ts';

/** More boxes than these are not drawn. */
const mostItems = 1000;

type Box = { readonly x: number; readonly y: number };

/** The steps as boxes in the colours of their statuses, with what depends on what; null when they are too many to follow. */
export function graphSvg(graph: Graph, steps: readonly ReportStep[]): Html | null {
  const { items, shape } = graphItems(
    graph,
    steps.map((step) => ({ name: step.summary.name, detail: stepDetail(step) })),
  );
  if (items.length > mostItems) return null;
  const layout = layOutGraph(shape);
  if (layout === null) return null;
  const { width, height, boxes } = layout;
  const drawn = items.map((item, index) => itemSvg(item, boxes[index] ?? { x: 0, y: 0 }, { graph, steps }));
  const label = `Graph of ${counted(graph.stepCount, 'step')}`;
  return html`<svg class="graph" style="--width:${width}px" viewBox="0 0 ${width} ${height}" role="group" aria-label="${label}">
<path class="edges" d="${trusted(edgePath(layout))}"/><path class="arrows" d="${trusted(arrowPath(layout))}"/>
${drawn}</svg>`;
}

type Drawn = { readonly graph: Graph; readonly steps: readonly ReportStep[] };

function itemSvg(item: GraphItem, box: Box, drawn: Drawn): Html {
  if (item.grid !== null) return gridSvg(item, item.grid, { box, drawn });
  const step = drawn.steps[item.nodes[0] ?? 0];
  if (step === undefined) return html``;
  const { width, height } = item;
  const detail = stepDetail(step);
  return html`<a href="#${step.anchor}" class="${step.summary.status}">${nested({ ...box, width, height })}
<title>${titleOf(step)}</title>${frame({ width, height }, 'box', 7)}<svg x="10" y="13">${statusIcon(stepLook(step.summary.status))}</svg>
<text class="name" x="${drawing.icon}" y="${detail === '' ? 25.5 : 18}">${cutName(step.summary.name, width - drawing.icon)}</text>
<text class="detail" x="${drawing.icon}" y="33">${detail}</text></svg></a>
`;
}

function gridSvg({ nodes, width, height }: GraphItem, grid: Grid, { box, drawn }: { box: Box; drawn: Drawn }): Html {
  const { padding, cellGap, titleHeight } = drawing;
  const cells = nodes.map((node, index) => {
    const x = padding + (index % grid.columns) * (grid.cellWidth + cellGap);
    const y = padding + titleHeight + Math.floor(index / grid.columns) * (grid.cellHeight + cellGap);
    return cellSvg(drawn.steps[node], { x, y }, grid);
  });
  const failed = nodes.filter((node) => drawn.steps[node]?.summary.status === 'failed').length;
  const title = `${counted(nodes.length, 'step')}${failed === 0 ? '' : ` · ${failed} failed`}`;
  return html`${nested({ ...box, width, height })}${frame({ width, height }, 'block', 9)}
<text class="detail" x="${padding + 2}" y="21">${title}</text>
${cells}</svg>
`;
}

function cellSvg(step: ReportStep | undefined, { x, y }: Box, { cellWidth, cellHeight, isNamed }: Grid): Html {
  if (step === undefined) return html``;
  const { status, name } = step.summary;
  const size = { width: cellWidth, height: cellHeight };
  const label = html`<svg x="7" y="5">${statusIcon(stepLook(status))}</svg>
<text class="name" x="29" y="17.5">${cutName(name, cellWidth - drawing.icon)}</text>`;
  return html`<a href="#${step.anchor}" class="${status}">${nested({ x, y, ...size })}<title>${titleOf(step)}</title>
${isNamed ? html`${frame(size, 'box', 6)}${label}` : frame(size, 'cell', 3)}</svg></a>
`;
}

type Size = { readonly width: number; readonly height: number };

/** The start of a drawing in the drawing: what would stick out of it is cut off. */
function nested({ x, y, width, height }: Box & Size): Html {
  return html`<svg x="${x}" y="${y}" width="${width}" height="${height}">`;
}

function frame({ width, height }: Size, name: 'box' | 'block' | 'cell', radius: number): Html {
  return html`<rect class="${name}" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="${radius}"/>`;
}

function titleOf(step: ReportStep): string {
  const { name, status } = step.summary;
  return [`${name}: ${stepLook(status).word}`, stepDetail(step)].filter((text) => text !== '').join(', ');
}

function cutName(name: string, width: number): string {
  return cut(escapeControls(name), Math.floor(width / drawing.character), '…');
}
