import { openBytes, sealBytes } from '@svc/keys';
import type { KeyObject } from 'node:crypto';
import { storeErrors } from '../../errors.ts';

const VERSION = 'v1';

/**
 * Data sealed directly under the master key, before the key ring: `v1:` and AES-256-GCM. The context, such as the
 * access key's id, is authenticated: a sealed secret that is moved to another row does not open.
 */
export class SecretBox {
  readonly #keys: readonly KeyObject[];
  readonly #random: (size: number) => Buffer;

  /** The first key seals; any of them opens. */
  constructor(keys: KeyObject | readonly KeyObject[], random: (size: number) => Buffer) {
    this.#keys = Array.isArray(keys) ? keys : [keys as KeyObject]; // `isArray` does not narrow readonly arrays
    this.#random = random;
  }

  seal(secret: string, context: string): string {
    const [key] = this.#keys;
    if (key === undefined) throw cannotOpen();
    return `${VERSION}:${sealBytes(key, Buffer.from(secret), context, this.#random).toString('base64')}`;
  }

  open(sealed: string, context: string): string {
    const [version, body] = sealed.split(':');
    if (version !== VERSION) throw cannotOpen();
    const bytes = Buffer.from(body ?? '', 'base64');
    for (const key of this.#keys) {
      const opened = openBytes(key, bytes, context);
      if (opened !== null) return opened.toString('utf8');
    }
    throw cannotOpen();
  }
}

function cannotOpen(): Error {
  return storeErrors.MasterKeyInvalid({ details: { reason: 'does not decrypt a stored secret' } });
}
