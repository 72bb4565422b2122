import type { ClientSettings } from '#config/login-settings.ts';
import { isUntrusted } from '#core/certificate-problem.ts';
import { WfError } from '#system/errors.ts';

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
