/**
 * Follows a clicked link of a drawing without loading the document: the router ignores links in SVG, whose element is `a`
 * instead of `A`. Leaves clicks that open another tab or window to the browser.
 */
export function followSvgLink(event: MouseEvent, route: (path: string) => void): void {
  const { target, button, ctrlKey, metaKey, altKey, shiftKey } = event;
  const link = target instanceof Element ? target.closest('a') : null;
  if (!(link instanceof SVGAElement) || button !== 0 || ctrlKey || metaKey || altKey || shiftKey) return;
  event.preventDefault();
  route(link.href.baseVal);
}
