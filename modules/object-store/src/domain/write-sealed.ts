import { isAppError } from '@svc/errors';
import { ringContext } from './encryption/key-envelope.ts';
import type { ObjectAttributes } from './ports/records.ts';
import type { KeyRing } from './secrets/key-ring.ts';

/**
 * Writes attributes that contain a data key. If a rotation closed its sealing key during the upload, reseals the data
 * key and writes again, so that a long upload does not fail.
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
