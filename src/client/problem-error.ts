import type { ClientSettings } from '#config/part-settings.ts';
import { isUntrusted } from '#core/certificate-problem.ts';
import type { Diagnostic, Position, Source } from '#language/diagnostic.ts';
import { InvalidWorkflow } from '#service/workflows.ts';
import { type ErrorCode, WfError } from '#system/errors.ts';
import { isObject, type JsonMap, listIn, numberIn, objectIn, textIn } from './json-fields.ts';

/** An error response. */
type Refusal = { readonly status: number; readonly retryAfter: string | null; readonly body: string };

/** The error codes with the same meaning in daemon and client; other errors are converted by their status. */
const sharedCodes: readonly ErrorCode[] = [
  'usage',
  'invalid-params',
  'not-found',
  'invalid-workflow',
  'run-exists',
  'run-active',
  'conflict',
  'busy',
  'storage',
  'not-built',
];

/**
 * Converts an error response into the error of a local call: an error of a workflow file with its diagnostics, else the
 * same code and message. `settings`: for messages about the daemon itself.
 */
export function problemError({ status, retryAfter, body }: Refusal, settings: ClientSettings): WfError {
  const problem = parseProblem(body);
  const message = textIn(problem, 'detail') ?? textIn(problem, 'message') ?? '';
  const help = textIn(problem, 'help');
  const code = sharedCodes.find((known) => known === textIn(problem, 'code')) ?? null;
  if (code === 'invalid-workflow') return invalidWorkflow(problem, message);
  if (code === 'busy') return new WfError('busy', message, { help: help ?? laterHelp(retryAfter) });
  // From a route, which reports about the request; other messages are about the daemon.
  if (code !== null && message !== '') return new WfError(code, message, help === null ? {} : { help });
  return daemonError({ status, retryAfter, message }, settings);
}

type Said = { readonly status: number; readonly retryAfter: string | null; readonly message: string };

function daemonError({ status, retryAfter, message }: Said, settings: ClientSettings): WfError {
  const { url, authorization } = settings;
  const said = message === '' ? '' : `: ${message}`;
  switch (status) {
    case 401:
      return new WfError('denied', authorization === null ? `${url} requires a login` : `${url} rejects the login`, {
        help: 'set WF_TOKEN, --token-file, or WF_USERNAME and WF_PASSWORD to the login of the daemon',
      });
    case 403:
      return new WfError('denied', `${url} forbids this request${said}`, {
        help: 'use a token that is not read-only, as WF_TOKEN or with --token-file',
      });
    case 404:
    case 405:
      return new WfError('unreachable', `${url} does not know this path${said}`, {
        help: `check that ${settings.source} points to the base URL of a wf daemon of this version`,
      });
    case 421:
      return new WfError('unreachable', `${url} does not accept this host name${said}`, {
        help: 'allow the name there with --allowed-hosts',
      });
    case 429:
    case 503:
      return new WfError('busy', `${url} accepts no more requests at present${said}`, { help: laterHelp(retryAfter) });
    case 400:
    case 413:
    case 415:
      return new WfError('usage', message === '' ? `${url} does not accept this request` : message);
    default:
      return status >= 500
        ? new WfError('unreachable', `${url} failed with status ${status}${said}`, {
            help: 'see the log of the daemon',
          })
        : notUnderstood(settings, `status ${status}${said}`);
  }
}

function laterHelp(retryAfter: string | null): string {
  return retryAfter !== null && /^\d+$/.test(retryAfter) ? `retry in ${retryAfter} s` : 'retry later';
}

/** Parses a problem document; empty for another body, such as the error page of a proxy. */
function parseProblem(body: string): JsonMap {
  try {
    const value: unknown = JSON.parse(body);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function invalidWorkflow(problem: JsonMap, message: string): WfError {
  const diagnostics = listIn(problem, 'diagnostics').filter(isObject).map(diagnosticOf);
  if (diagnostics.length === 0) return new WfError('invalid-workflow', message || 'the workflow is not valid');
  const name = /^"([\s\S]*)" is not a valid workflow$/.exec(message)?.[1] ?? message;
  const sources = listIn(problem, 'sources').filter(isObject).flatMap(sourceOf);
  return new InvalidWorkflow(name, diagnostics, sources);
}

function sourceOf(source: JsonMap): readonly Source[] {
  const path = textIn(source, 'path');
  const text = textIn(source, 'text');
  return path === null || text === null ? [] : [{ path, text }];
}

/** Parses a diagnostic sent by a daemon. */
export function diagnosticOf(diagnostic: JsonMap): Diagnostic {
  const label = textIn(diagnostic, 'label') ?? '';
  const help = textIn(diagnostic, 'help');
  return {
    severity: textIn(diagnostic, 'severity') === 'warning' ? 'warning' : 'error',
    code: textIn(diagnostic, 'code') ?? '',
    message: textIn(diagnostic, 'message') ?? '',
    position: positionOf(diagnostic),
    label,
    related: listIn(diagnostic, 'related').filter(isObject).flatMap(relatedOf),
    importedFrom: listIn(diagnostic, 'importedFrom')
      .filter(isObject)
      .flatMap((position) => positionOf(position) ?? []),
    help: help === label ? null : help,
  };
}

function relatedOf(related: JsonMap): Diagnostic['related'] {
  const position = positionOf(objectIn(related, 'place') ?? related);
  return position === null ? [] : [{ position: position, message: textIn(related, 'message') ?? '' }];
}

function positionOf(from: JsonMap): Position | null {
  const file = textIn(from, 'file');
  const line = numberIn(from, 'line');
  if (file === null || line === null) return null;
  const column = numberIn(from, 'column') ?? 1;
  const end = { line: numberIn(from, 'endLine') ?? line, column: numberIn(from, 'endColumn') ?? column };
  return { file, start: { line, column }, end };
}

/** Converts an error of the connection to a daemon, with help for the user. */
export function connectionProblem(error: NodeJS.ErrnoException, settings: ClientSettings): WfError {
  const { url } = settings;
  const code = error.code ?? '';
  const tls = tlsProblem(code, error.message, settings);
  if (tls !== null) return tls;
  switch (code) {
    case 'ECONNREFUSED':
      return unreachable(
        `no program listens at ${url}`,
        `start the daemon there with wf serve, ${orAnother(settings)}`,
      );
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return unreachable(`no address found for "${new URL(url).hostname}"`, orAnother(settings));
    case 'ECONNRESET':
    case 'EPIPE':
      return unreachable(`${url} closed the connection`, brokenHelp(settings));
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
      return unreachable(
        `${url} does not speak TLS`,
        `is it ${url.replace('https:', 'http:')}? ${itComesFrom(settings)}`,
      );
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ETIMEDOUT':
      return unreachable(`${url} cannot be reached: ${error.message}`, orAnother(settings));
    default:
      return code.startsWith('HPE_')
        ? unreachable(`${url} does not speak HTTP: ${error.message}`, brokenHelp(settings))
        : unreachable(`cannot ask ${url}: ${error.message}`, orAnother(settings));
  }
}

/** Creates the error for a daemon that does not answer in time. */
export function noAnswer(settings: ClientSettings, afterMs: number): WfError {
  return unreachable(`${settings.url} did not answer for ${afterMs / 1000} s`, orAnother(settings));
}

/** Creates the error for a response that is invalid: from another program, or from another version of `wf`. */
export function notUnderstood({ url, source }: ClientSettings, what: string): WfError {
  return unreachable(
    `invalid response from ${url}: ${what}`,
    `check that ${source} points to the base URL of a wf daemon of this version or a newer one`,
  );
}

function tlsProblem(code: string, message: string, settings: ClientSettings): WfError | null {
  const { url } = settings;
  if (isUntrusted(code)) {
    return unreachable(
      `the certificate of ${url} is not signed by a trusted authority: ${message}`,
      'name the certificate of its authority, or its own where it is self-signed, with --server-ca or "serverCa"',
    );
  }
  switch (code) {
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return unreachable(`the certificate of ${url} is not valid today: ${message}`, 'renew it on the daemon');
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return unreachable(
        `the certificate of ${url} is for other names: ${message}`,
        `use a name in the certificate; ${itComesFrom(settings)}`,
      );
    default:
      return null;
  }
}

function brokenHelp(settings: ClientSettings): string {
  const { url } = settings;
  if (url.startsWith('https:')) return orAnother(settings);
  return `if it speaks TLS, the address is ${url.replace('http:', 'https:')}; ${itComesFrom(settings)}`;
}

function orAnother({ source }: ClientSettings): string {
  return `check its address, which comes from ${source}`;
}

function itComesFrom({ source }: ClientSettings): string {
  return `its address comes from ${source}`;
}

function unreachable(message: string, help: string): WfError {
  return new WfError('unreachable', message, { help });
}
