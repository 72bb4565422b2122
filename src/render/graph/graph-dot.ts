import type { Graph } from '../../core/graph.ts';
import { escapeControls } from '../text/sanitize.ts';
import { graphEdges } from './graph-edges.ts';

/** Renders the graph for Graphviz. Nodes are `n0`, `n1`...; names appear only in labels. */
export function dotGraph(graph: Graph, title: string): string {
  const nodes = graph.nodes.map((node, number) => {
    const style = number < graph.stepCount ? '' : ', style=dashed';
    return `  n${number} [label=${quote(node.name)}${style}];`;
  });
  const edges = graphEdges(graph).map(([from, to]) => `  n${from} -> n${to};`);
  return [`digraph ${quote(title)} {`, '  node [shape=box];', ...nodes, ...edges, '}', ''].join('\n');
}

/** In a quoted text of Graphviz a backslash starts an escape and `&` an HTML entity. */
function quote(text: string): string {
  const safe = escapeControls(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('&', '&amp;');
  return `"${safe}"`;
}
