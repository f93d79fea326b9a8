import { createHash } from 'node:crypto';
import ssh2, { type AuthContext } from 'ssh2';

/** The public half of a host key. */
export interface HostKey {
  /** As in `known_hosts`: type and base64. */
  readonly publicKey: string;
  /** As OpenSSH shows it. */
  readonly fingerprint: string;
}

const ATTEMPTS = 20;
/** The types that accounts register. */
const TYPES: ReadonlySet<string> = new Set([
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'ssh-rsa',
]);
/** Above an RSA key of 8,192 bits: strangers choose the key that is verified. */
const MAX_KEY_BYTES = 1_200;

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

/** What a client shows of a key. */
type ShownKey = Pick<AuthContext, 'key' | 'hashAlgo' | 'signature' | 'blob'>;

/** Whether a login with such a key is possible at all: its type, its size, and for RSA, SHA-2. */
export function isUsableKey({ key, hashAlgo }: ShownKey): boolean {
  if (key === undefined || !TYPES.has(key.algo) || key.data.length > MAX_KEY_BYTES) return false;
  return key.algo !== 'ssh-rsa' || hashAlgo !== undefined;
}

/** Returns the fingerprint of a key whose holder has signed for this connection; null if the signature is wrong. */
export function verifyKey({ key, hashAlgo, signature, blob }: ShownKey): string | null {
  if (key === undefined || signature === undefined || blob === undefined) return null;
  const { algo, data } = key;
  const nameBytes = 4 + algo.length;
  const hasType = data.length > nameBytes && data.readUInt32BE(0) === algo.length;
  if (!hasType || data.toString('latin1', 4, nameBytes) !== algo) return null;
  try {
    // As text, so that the library looks for no other format in the client's bytes.
    const parsed = ssh2.utils.parseKey(`${algo} ${data.toString('base64')}`);
    if (parsed instanceof Error || parsed.type !== algo) return null;
    return parsed.verify(blob, signature, hashAlgo) === true ? fingerprintOf(data) : null;
  } catch {
    return null; // the library throws for some keys, such as an elliptic one without a point
  }
}
