import { isAppError } from '@svc/errors';
import { ringContext } from './encryption/key-envelope.ts';
import type { ObjectAttributes } from './ports/records.ts';
import type { KeyRing } from './secrets/key-ring.ts';

/**
 * Writes attributes that hold a data key. Where a rotation closed the key that it is sealed under while the bytes came,
 * the data key is sealed again and written once more: a long upload does not fail for it.
 */
export async function writeSealed<Result>(
  secrets: Pick<KeyRing, 'refresh' | 'reseal'>,
  attributes: ObjectAttributes,
  write: (attributes: ObjectAttributes) => Promise<Result>,
): Promise<Result> {
  try {
    return await write(attributes);
  } catch (error) {
    const { encryption } = attributes;
    if (!isAppError(error) || error.code !== 'KeyClosed' || encryption === undefined) throw error;
    await secrets.refresh();
    const sealedKey = await secrets.reseal(encryption.sealedKey, ringContext(encryption));
    return await write({ ...attributes, encryption: { ...encryption, sealedKey: sealedKey ?? encryption.sealedKey } });
  }
}
