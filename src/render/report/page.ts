import { shortId } from '../text/short-id.ts';
import { type Html, html, trusted } from './html.ts';
import { runLook } from './status-look.ts';
import { zonedTime } from './text.ts';
import type { ReportAssets, ReportView } from './view.ts';

/** Signs for the title, which no style sheet reaches. */
const signs: Readonly<Record<string, string>> = {
  succeeded: '✔',
  failed: '✖',
  partly: '✔',
  canceled: '■',
  skipped: '↷',
};
const iconColors: Readonly<Record<string, string>> = { succeeded: '1a7f37', failed: 'cf222e', running: '0969da' };

/**
 * The page up to its body. The policy forbids every request, whatever the page may hold: styles are those in the page, the
 * one script is the one with this hash, the icon is in the address that names it.
 */
export function pageHead({ summary }: ReportView, { css, scriptHash }: ReportAssets): Html {
  const { kind } = runLook(summary.status);
  const sign = signs[kind] ?? '▶';
  const policy = [
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    `script-src 'sha256-${scriptHash}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const dot = `<circle cx="8" cy="8" r="7" fill="#${iconColors[kind] ?? '9a6700'}"/>`;
  const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">${dot}</svg>`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${sign} ${summary.workflow} ${shortId(summary.runId)}</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(icon)}">
<style>
${trusted(css)}</style>
</head>
<body>
<a class="skip" href="#steps">Skip to the steps</a>
`;
}

/** The page from the end of its body on. */
export function pageFoot({ summary, now, version }: ReportView, { js }: ReportAssets): Html {
  return html`<footer>Written by wf ${version} on ${zonedTime(now)}.
<code>wf status ${shortId(summary.runId)}</code> shows the run as it is now.</footer>
<script>${trusted(js)}</script>
</body>
</html>
`;
}
