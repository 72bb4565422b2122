import type { Graph } from '../../core/graph.ts';
import { escapeControls } from '../text/sanitize.ts';
import { graphEdges } from './graph-edges.ts';

/**
 * Renders the graph as a Mermaid flowchart, which GitHub draws in Markdown. Nodes are `n0`, `n1`...; names are labels.
 * `classOf` returns the class of a node (null: none), which the caller defines.
 */
export function mermaidGraph(graph: Graph, classOf: (name: string) => string | null = () => null): string {
  const nodes = graph.nodes.map(({ name }, number) => {
    const text = label(name);
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
