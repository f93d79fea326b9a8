import { createHash } from 'node:crypto';
import ssh2 from 'ssh2';

/** The public half of a host key. */
export interface HostKey {
  /** As in `known_hosts`: type and base64. */
  readonly publicKey: string;
  /** As OpenSSH shows it. */
  readonly fingerprint: string;
}

const ATTEMPTS = 20;

/**
 * Generates an Ed25519 key in the format of OpenSSH. The library writes about one key of 150 in a way that nothing can
 * read, because it leaves out leading zeros.
 */
export function generateHostKey(generate = () => ssh2.utils.generateKeyPairSync('ed25519').private): string {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const key = generate();
    if (!(ssh2.utils.parseKey(key) instanceof Error)) return key;
  }
  throw new Error('no SSH host key could be generated');
}

/** Throws if the text is not a private key. */
export function describeHostKey(privateKey: string): HostKey {
  const key = ssh2.utils.parseKey(privateKey);
  if (key instanceof Error) throw new Error('the SSH host key is not a private key', { cause: key });
  const publicBytes = key.getPublicSSH();
  return { publicKey: `${key.type} ${publicBytes.toString('base64')}`, fingerprint: fingerprintOf(publicBytes) };
}

/** As OpenSSH shows the fingerprint of a public key. */
export function fingerprintOf(publicBytes: Buffer): string {
  return `SHA256:${createHash('sha256').update(publicBytes).digest('base64').replaceAll('=', '')}`;
}
