const UNTRUSTED = 'its certificate is not signed by a trusted authority';

/** The texts of certificate errors by the codes of OpenSSL and Node. */
export const certificateProblems: { readonly [code: string]: string } = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
};

/** Returns whether an error is one that a trusted certificate file resolves. */
export function isUntrusted(code: string): boolean {
  return /SELF_SIGNED|ISSUER|LEAF_SIGNATURE/.test(code);
}
