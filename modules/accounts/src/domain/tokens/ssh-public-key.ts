import { createHash, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { accountErrors } from '../../errors.ts';

/** A public key as OpenSSH writes it. */
export interface SshPublicKey {
  /** Type and base64, as in `authorized_keys`. */
  readonly publicKey: string;
  /** As `ssh-keygen -l` shows it. */
  readonly fingerprint: string;
}

const LINE = /^([a-z0-9@.-]+)[ \t]+([A-Za-z0-9+/]+={0,2})(?:[ \t].*)?$/;
const TYPE = /^(?:ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(?:256|384|521))$/;
/** Smaller ones are weak; each login with a larger one would cost noticeable time. */
const MIN_RSA_BITS = 2048;
const MAX_RSA_BITS = 8192;
const MAX_RSA_EXPONENT = 2n ** 32n;
const UNCOMPRESSED_POINT = 4;
const CURVES: Readonly<Record<string, { readonly crv: string; readonly sizeBytes: number }>> = {
  nistp256: { crv: 'P-256', sizeBytes: 32 },
  nistp384: { crv: 'P-384', sizeBytes: 48 },
  nistp521: { crv: 'P-521', sizeBytes: 66 },
};

/** Parses one line of `authorized_keys`, without options. Throws SSH_KEY_UNSUITABLE. */
export function parseSshPublicKey(text: string): SshPublicKey {
  const line = text.trim();
  if (line.includes('PRIVATE KEY')) throw unsuitable('is a private key; keep it secret and send the .pub file');
  const [, type = '', base64 = ''] = LINE.exec(line) ?? [];
  if (type === '') throw unsuitable('must be one line such as "ssh-ed25519 AAAA… comment", the content of a .pub file');
  const bytes = Buffer.from(base64, 'base64');
  assertSuitable(type, bytes);
  return {
    publicKey: `${type} ${bytes.toString('base64')}`,
    fingerprint: `SHA256:${createHash('sha256').update(bytes).digest('base64').replaceAll('=', '')}`,
  };
}

function assertSuitable(type: string, bytes: Buffer): void {
  if (!TYPE.test(type)) {
    throw unsuitable(`has the type ${type}; use ssh-ed25519, ecdsa-sha2-nistp256, -384 or -521, or ssh-rsa`);
  }
  const fields = readFields(bytes);
  const jwk = fields?.[0]?.toString('latin1') === type ? toJwk(type, fields.slice(1)) : null;
  const key = jwk === null ? null : tryCreate(jwk);
  if (key === null) throw unsuitable(`is not a valid key of type ${type}`);
  const { modulusLength: bits, publicExponent: exponent = 0n } = key.asymmetricKeyDetails ?? {};
  if (bits === undefined) return;
  if (bits < MIN_RSA_BITS || bits > MAX_RSA_BITS) {
    throw unsuitable(`has ${bits} bits; RSA keys must have ${MIN_RSA_BITS} to ${MAX_RSA_BITS}`);
  }
  if (exponent < 3n || exponent > MAX_RSA_EXPONENT) throw unsuitable('has an unusual exponent; use 65537');
}

/** Strings of the wire format (RFC 4251, section 5); null if the lengths do not add up. */
function readFields(bytes: Buffer): Buffer[] | null {
  const fields: Buffer[] = [];
  let at = 0;
  while (at + 4 <= bytes.length) {
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) return null;
    fields.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return at === bytes.length ? fields : null;
}

/** RFC 4253, RFC 5656 and RFC 8709. Null if the fields are not those of the type. */
function toJwk(type: string, fields: readonly Buffer[]): JsonWebKey | null {
  const [first = Buffer.alloc(0), second = Buffer.alloc(0)] = fields;
  if (type === 'ssh-ed25519') {
    return fields.length === 1 ? { kty: 'OKP', crv: 'Ed25519', x: first.toString('base64url') } : null;
  }
  if (type === 'ssh-rsa') {
    return fields.length === 2 ? { kty: 'RSA', e: first.toString('base64url'), n: second.toString('base64url') } : null;
  }
  const name = type.slice('ecdsa-sha2-'.length);
  const curve = CURVES[name];
  if (curve === undefined) return null;
  const { crv, sizeBytes } = curve;
  const isPoint = second[0] === UNCOMPRESSED_POINT && second.length === 1 + 2 * sizeBytes;
  if (fields.length !== 2 || first.toString('latin1') !== name || !isPoint) return null;
  const x = second.subarray(1, 1 + sizeBytes).toString('base64url');
  return { kty: 'EC', crv, x, y: second.subarray(1 + sizeBytes).toString('base64url') };
}

/** Null for a point off its curve and the like. */
function tryCreate(jwk: JsonWebKey): KeyObject | null {
  try {
    return createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    return null;
  }
}

function unsuitable(reason: string): Error {
  return accountErrors.SSH_KEY_UNSUITABLE({ details: { field: 'public_key', reason } });
}
