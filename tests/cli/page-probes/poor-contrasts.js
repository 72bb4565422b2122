// Texts whose colour is too close to what lies behind them (WCAG 2.2, 1.4.3), but for what programs have painted.
(() => {
  const passedOver = 'script, title, option, .sr, .skip, .log span:not(.cut)';

  const luminance = (color) => {
    const [red, green, blue] = color.match(/[\d.]+/g).map((text) => {
      const share = Number(text) / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };

  const behind = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const { backgroundColor } = getComputedStyle(at);
      if (backgroundColor.startsWith('rgb(')) return backgroundColor;
    }
    return 'rgb(255, 255, 255)';
  };

  const isText = (node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim() !== '';

  const poor = new Set();
  for (const element of document.querySelectorAll('body *')) {
    if (![...element.childNodes].some(isText) || element.closest(passedOver) !== null) continue;
    const { color, fill } = getComputedStyle(element);
    const front = element.closest('svg') === null ? color : fill;
    const levels = [luminance(front), luminance(behind(element))].sort((a, b) => b - a);
    if ((levels[0] + 0.05) / (levels[1] + 0.05) < 4.5)
      poor.add(`${element.outerHTML.slice(0, 60)}: ${front} on ${behind(element)}`);
  }
  return [...poor];
})();
