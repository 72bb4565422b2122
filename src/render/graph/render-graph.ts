import { buildGraph, type Graph } from '#core/graph.ts';
import type { Workflow } from '#core/workflow.ts';
import { escapeControls } from '../text/sanitize.ts';
import { graphEdges } from './graph-edges.ts';
import type { GraphFormat } from './graph-format.ts';
import { graphJson } from './graph-json.ts';
import { graphText } from './graph-text.ts';
import { nodeLabel } from './node-label.ts';

/** Draws the steps of a workflow, their dependencies, and its handlers. Ends with a line break. */
export function renderGraph(
  workflow: Workflow,
  format: GraphFormat,
  { unicode }: { readonly unicode: boolean },
): string {
  const graph = buildGraph(workflow);
  switch (format) {
    case 'ascii':
      return graphText(graph, unicode);
    case 'mermaid':
      return mermaidGraph(graph);
    case 'dot':
      return dotGraph(graph, workflow.name);
    case 'json':
      return graphJson(graph);
  }
}

/** Renders the graph for Graphviz. Nodes are `n0`, `n1`...; names appear only in labels. */
function dotGraph(graph: Graph, title: string): string {
  const nodes = graph.nodes.map((node, number) => {
    const style = number < graph.stepCount ? '' : ', style=dashed';
    return `  n${number} [label=${quote(nodeLabel(node))}${style}];`;
  });
  const edges = graphEdges(graph).map(([from, to]) => `  n${from} -> n${to};`);
  return [`digraph ${quote(title)} {`, '  node [shape=box];', ...nodes, ...edges, '}', ''].join('\n');
}

/** In a quoted text of Graphviz a backslash starts an escape and `&` an HTML entity. */
function quote(text: string): string {
  const safe = escapeControls(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('&', '&amp;');
  return `"${safe}"`;
}

/**
 * Renders the graph as a Mermaid flowchart, which GitHub draws in Markdown. Nodes are `n0`, `n1`...; names are labels.
 * `classOf` returns the class of a node (null: none), which the caller defines.
 */
export function mermaidGraph(graph: Graph, classOf: (name: string) => string | null = () => null): string {
  const nodes = graph.nodes.map((node, number) => {
    const { name } = node;
    const text = label(nodeLabel(node));
    const box = number < graph.stepCount ? `["${text}"]` : `(["${text}"])`;
    const ofClass = classOf(name);
    return `  n${number}${box}${ofClass === null ? '' : `:::${ofClass}`}`;
  });
  const edges = graphEdges(graph).map(([from, to]) => `  n${from} --> n${to}`);
  return ['flowchart TD', ...nodes, ...edges, ''].join('\n');
}

/** Escapes characters that are syntax in Mermaid or HTML by their code: `#35;` for `#`. */
function label(text: string): string {
  return escapeControls(text).replace(/["#&<>`\\;{}[\]()|*_~]/g, (character) => `#${character.codePointAt(0)};`);
}
