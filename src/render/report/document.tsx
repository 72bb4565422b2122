import type { RunView } from '../../page/run-view/view.ts';
import { shortId } from '../text/short-id.ts';
import { markup } from './markup.ts';
import { runLook } from './status-look.ts';
import { zonedTime } from './text.ts';
import type { ReportAssets, ReportView } from './view.ts';

/** Signs for the title, which no style sheet reaches. */
const signs: Readonly<Record<string, string>> = {
  succeeded: '\u2714',
  failed: '\u2716',
  partly: '\u2714',
  canceled: '\u25a0',
  skipped: '\u21b7',
};
const iconColors: Readonly<Record<string, string>> = { succeeded: '1a7f37', failed: 'cf222e', running: '0969da' };

/**
 * The document up to its content. The policy forbids every request, whatever the page contains: styles are those in the
 * page, the one script is the one with this hash, the icon is in the address that names it.
 */
export function documentHead(run: RunView['run'], { css, scriptHash }: ReportAssets): string {
  const { kind } = runLook(run.status);
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
  const head = markup(
    <>
      <meta charset="utf-8" />
      <meta http-equiv="Content-Security-Policy" content={policy} />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="referrer" content="no-referrer" />
      <title>{`${signs[kind] ?? '\u25b6'} ${run.workflow} ${shortId(run.runId)}`}</title>
      <link rel="icon" href={`data:image/svg+xml,${encodeURIComponent(icon)}`} />
    </>,
  );
  return `<!doctype html>
<html lang="en">
<head>
${head}<style>
${css}</style>
</head>
<body class="report">
<a class="skip" href="#steps">Skip to the steps</a>
`;
}

/** The document from the end of its content on. */
export function documentFoot({ view: { run }, now, version }: ReportView, { js }: ReportAssets): string {
  const foot = markup(
    <footer>
      Written by wf {version} on {zonedTime(now)}. <code>wf status {shortId(run.runId)}</code> shows the run as it is
      now.
    </footer>,
  );
  return `${foot}<script>${js}</script>
</body>
</html>
`;
}
