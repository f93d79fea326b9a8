const PREFIX = 'urn:svc:replica:';

/** The name of a replica in its certificate, as a URI (RFC 5280, subjectAltName). */
export function replicaUri(replica: string): string {
  return `${PREFIX}${encodeURIComponent(replica)}`;
}

/** Whether the certificate, by its subject alternative names as OpenSSL prints them, is of this replica only. */
export function isCertificateOf(replica: string, subjectAltName: string | undefined): boolean {
  return subjectAltName === `URI:${replicaUri(replica)}`;
}
