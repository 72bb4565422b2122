/** Follows a clicked link in SVG by the router, which ignores its element, `a` instead of `A`. */
export function followSvgLink(event: MouseEvent, route: (path: string) => void): void {
  const { target, button, ctrlKey, metaKey, altKey, shiftKey } = event;
  const link = target instanceof Element ? target.closest('a') : null;
  if (!(link instanceof SVGAElement) || button !== 0 || ctrlKey || metaKey || altKey || shiftKey) return;
  event.preventDefault();
  route(link.href.baseVal);
}
