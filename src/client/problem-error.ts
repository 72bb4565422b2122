import type { ClientSettings } from '#config/part-settings.ts';
import { isUntrusted } from '#core/certificate-problem.ts';
import { given } from '#core/data/collections.ts';
import type { Diagnostic, Position, Source } from '#language/diagnostic.ts';
import { InvalidWorkflow } from '#service/workflows.ts';
import { type ErrorCode, WfError } from '#system/errors.ts';
import { type JsonMap, numberIn, objectIn, objectsIn, parseMap, textIn } from './json-fields.ts';

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
  // Empty for another body, such as the error page of a proxy.
  const problem = parseMap(body) ?? {};
  const message = textIn(problem, 'detail') ?? textIn(problem, 'message') ?? '';
  const help = textIn(problem, 'help');
  const code = sharedCodes.find((known) => known === textIn(problem, 'code')) ?? null;
  const later = retryAfter !== null && /^\d+$/.test(retryAfter) ? `retry in ${retryAfter} s` : 'retry later';
  if (code === 'invalid-workflow') return invalidWorkflow(problem, message);
  if (code === 'busy') return new WfError('busy', message, { help: help ?? later });
  // From a route, which reports about the request; other messages are about the daemon.
  if (code !== null && message !== '') return new WfError(code, message, given({ help }));
  return daemonError(status, message, later, settings);
}

function daemonError(status: number, message: string, later: string, settings: ClientSettings): WfError {
  const { url, authorization, source } = settings;
  const said = message === '' ? '' : `: ${message}`;
  const fail = (code: ErrorCode, what: string, help: string) => new WfError(code, `${url} ${what}`, { help });
  switch (status) {
    case 401: {
      const help = 'set WF_TOKEN, --token-file, or WF_USERNAME and WF_PASSWORD to the login of the daemon';
      return fail('denied', authorization === null ? 'requires a login' : 'rejects the login', help);
    }
    case 403: {
      const help = 'use a token that is not read-only, as WF_TOKEN or with --token-file';
      return fail('denied', `forbids this request${said}`, help);
    }
    case 404:
    case 405: {
      const help = `check that ${source} points to the base URL of a wf daemon of this version`;
      return fail('unreachable', `does not know this path${said}`, help);
    }
    case 421:
      return fail('unreachable', `does not accept this host name${said}`, 'allow the name there with --allowed-hosts');
    case 429:
    case 503:
      return fail('busy', `accepts no more requests at present${said}`, later);
    case 400:
    case 413:
    case 415:
      return new WfError('usage', message === '' ? `${url} does not accept this request` : message);
    default:
      if (status < 500) return notUnderstood(settings, `status ${status}${said}`);
      return fail('unreachable', `failed with status ${status}${said}`, 'see the log of the daemon');
  }
}

function invalidWorkflow(problem: JsonMap, message: string): WfError {
  const diagnostics = objectsIn(problem, 'diagnostics').map(diagnosticOf);
  if (diagnostics.length === 0) return new WfError('invalid-workflow', message || 'the workflow is not valid');
  const name = /^"([\s\S]*)" is not a valid workflow$/.exec(message)?.[1] ?? message;
  const sources = objectsIn(problem, 'sources').flatMap((source) => sourceIn(source, 'text'));
  return new InvalidWorkflow(name, diagnostics, sources);
}

/** The path and text of a file; empty without both. `textField`: the field with the text. */
export function sourceIn(from: JsonMap, textField: string, pathField = 'path'): readonly Source[] {
  const path = textIn(from, pathField);
  const text = textIn(from, textField);
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
    related: objectsIn(diagnostic, 'related').flatMap(relatedOf),
    importedFrom: objectsIn(diagnostic, 'importedFrom').flatMap((position) => positionOf(position) ?? []),
    help: help === label ? null : help,
  };
}

function relatedOf(related: JsonMap): Diagnostic['related'] {
  const position = positionOf(objectIn(related, 'place') ?? related);
  return position === null ? [] : [{ position, message: textIn(related, 'message') ?? '' }];
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
export function connectionProblem({ code = '', message }: NodeJS.ErrnoException, settings: ClientSettings): WfError {
  const { url, source } = settings;
  const another = otherAddress(settings);
  const origin = `its address comes from ${source}`;
  const broken = url.startsWith('https:')
    ? another
    : `if it speaks TLS, the address is ${url.replace('http:', 'https:')}; ${origin}`;
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
        `use a name in the certificate; ${origin}`,
      );
    case 'ECONNREFUSED':
      return unreachable(`no program listens at ${url}`, `start the daemon there with wf serve, ${another}`);
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return unreachable(`no address found for "${new URL(url).hostname}"`, another);
    case 'ECONNRESET':
    case 'EPIPE':
      return unreachable(`${url} closed the connection`, broken);
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
      return unreachable(`${url} does not speak TLS`, `is it ${url.replace('https:', 'http:')}? ${origin}`);
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ETIMEDOUT':
      return unreachable(`${url} cannot be reached: ${message}`, another);
    default:
      return code.startsWith('HPE_')
        ? unreachable(`${url} does not speak HTTP: ${message}`, broken)
        : unreachable(`cannot ask ${url}: ${message}`, another);
  }
}

/** Creates the error for a daemon that does not answer in time. */
export function noAnswer(settings: ClientSettings, afterMs: number): WfError {
  return unreachable(`${settings.url} did not answer for ${afterMs / 1000} s`, otherAddress(settings));
}

/** Creates the error for a response that is invalid: from another program, or from another version of `wf`. */
export function notUnderstood({ url, source }: ClientSettings, what: string): WfError {
  return unreachable(
    `invalid response from ${url}: ${what}`,
    `check that ${source} points to the base URL of a wf daemon of this version or a newer one`,
  );
}

function otherAddress({ source }: ClientSettings): string {
  return `check its address, which comes from ${source}`;
}

function unreachable(message: string, help: string): WfError {
  return new WfError('unreachable', message, { help });
}
