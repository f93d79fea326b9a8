import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** A certificate authority for mutual TLS in tests. All in PEM. */
export interface TestAuthority {
  readonly ca: string;
  /** Issues a certificate for both sides of a connection, with this URI as its only name. */
  issue(uri: string): Promise<{ readonly cert: string; readonly key: string }>;
}

export async function createTestAuthority(): Promise<TestAuthority> {
  const newKeys = (): Promise<webcrypto.CryptoKeyPair> =>
    webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const keys = await newKeys();
  const nowMs = Date.now();
  const times = { notBefore: new Date(nowMs - 3_600_000), notAfter: new Date(nowMs + 24 * 3_600_000) };
  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    name: `CN=test authority ${webcrypto.randomUUID()}`, // by which a certificate finds its issuer
    ...times,
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [new x509.BasicConstraintsExtension(true, 0, true)],
  });
  return {
    ca: authority.toString('pem'),
    issue: async (uri) => {
      const { publicKey, privateKey } = await newKeys();
      const certificate = await x509.X509CertificateGenerator.create({
        subject: 'CN=test',
        issuer: authority.subject,
        ...times,
        signingAlgorithm: ALGORITHM,
        publicKey,
        signingKey: keys.privateKey,
        extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'url', value: uri }])],
      });
      const exported = await webcrypto.subtle.exportKey('pkcs8', privateKey);
      return { cert: certificate.toString('pem'), key: x509.PemConverter.encode(exported, 'PRIVATE KEY') };
    },
  };
}
