/** Whether a workflow or run with these tags has one, ignoring case. */
export function hasTag(tags: readonly string[], tag: string): boolean {
  const wanted = tag.toLowerCase();
  return tags.some((each) => each.toLowerCase() === wanted);
}
