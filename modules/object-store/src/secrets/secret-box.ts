import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto';
import { storeErrors } from '../errors.ts';

const VERSION = 'v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * AES-256-GCM (NIST SP 800-38D) under the master key. The context, such as the access key's id, is authenticated with it:
 * a sealed secret that is moved to another row does not open.
 */
export class SecretBox {
  readonly #key: KeyObject;
  readonly #random: (size: number) => Buffer;

  constructor(key: KeyObject, random: (size: number) => Buffer) {
    this.#key = key;
    this.#random = random;
  }

  seal(secret: string, context: string): string {
    const nonce = this.#random(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce);
    cipher.setAAD(Buffer.from(context));
    const sealed = Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${VERSION}:${sealed.toString('base64')}`;
  }

  open(sealed: string, context: string): string {
    const [version, body] = sealed.split(':');
    const bytes = Buffer.from(body ?? '', 'base64');
    if (version !== VERSION || bytes.length <= NONCE_BYTES + TAG_BYTES) throw cannotOpen();
    const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, NONCE_BYTES));
    decipher.setAAD(Buffer.from(context));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
    } catch (cause) {
      throw cannotOpen(cause);
    }
  }
}

function cannotOpen(cause?: unknown): Error {
  return storeErrors.MasterKeyInvalid({ cause, details: { reason: 'does not open a stored secret' } });
}
