import type { Step } from '#core/workflow.ts';

/** The name of a node in a drawing; of a fan-out with the number of its items: `NAME x5`, `NAME xN` if it is unknown. */
export function nodeLabel({ name, fanOut }: Pick<Step, 'name' | 'fanOut'>): string {
  if (fanOut === undefined) return name;
  return `${name} x${typeof fanOut.items === 'string' ? 'N' : fanOut.items.length}`;
}
