import type { ClientSettings } from '../../config/client-settings.ts';
import { WfError } from '../../errors.ts';

/** Why a daemon could not be talked to, with what can be done about it. */
export function connectionProblem(error: NodeJS.ErrnoException, settings: ClientSettings): WfError {
  const { url } = settings;
  const code = error.code ?? '';
  const tls = tlsProblem(code, error.message, settings);
  if (tls !== null) return tls;
  switch (code) {
    case 'ECONNREFUSED':
      return unreachable(`nothing listens at ${url}`, `start the daemon there with wf serve, ${orAnother(settings)}`);
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return unreachable(`there is no address for "${new URL(url).hostname}"`, orAnother(settings));
    case 'ECONNRESET':
    case 'EPIPE':
      return unreachable(`${url} broke the connection off`, brokenHelp(settings));
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

/** The daemon let a deadline pass. */
export function noAnswer(settings: ClientSettings, afterMs: number): WfError {
  return unreachable(`${settings.url} has not answered for ${afterMs / 1000} s`, orAnother(settings));
}

/** Who answers is no daemon of this program, or of another version of it. */
export function notUnderstood({ url, source }: ClientSettings, what: string): WfError {
  return unreachable(
    `the answer of ${url} cannot be understood: ${what}`,
    `is that a wf daemon, of this version or a newer one? Its address comes from ${source}`,
  );
}

function tlsProblem(code: string, message: string, settings: ClientSettings): WfError | null {
  const { url } = settings;
  switch (code) {
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return unreachable(
        `nobody that is trusted vouches for the certificate of ${url}: ${message}`,
        'name the certificate of its authority, or its own where it is self-signed, with --server-ca or "serverCa"',
      );
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return unreachable(`the certificate of ${url} is not valid today: ${message}`, 'it has to be renewed there');
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return unreachable(
        `the certificate of ${url} is for other names: ${message}`,
        `use a name that is in it; ${itComesFrom(settings)}`,
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
  return `see to its address, which comes from ${source}`;
}

function itComesFrom({ source }: ClientSettings): string {
  return `its address comes from ${source}`;
}

function unreachable(message: string, help: string): WfError {
  return new WfError('unreachable', message, { help });
}
