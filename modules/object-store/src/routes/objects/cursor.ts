import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto';
import { storeErrors } from '../../errors.ts';

const TAG_BYTES = 12;

/** The position of a listing, signed so that cursors that clients invent or take from another bucket are rejected. */
export class Cursors {
  readonly #key: KeyObject;

  constructor(key: KeyObject) {
    this.#key = key;
  }

  /** `scope` is where the cursor is valid: the bucket and the kind of listing. */
  seal(scope: string, position: readonly string[]): string {
    const content = Buffer.from(JSON.stringify(position));
    return Buffer.concat([this.#tag(scope, content), content]).toString('base64url');
  }

  /** Throws `InvalidArgument` for a cursor that `seal` did not create for this scope. */
  open(scope: string, cursor: string): readonly string[] {
    const bytes = Buffer.from(cursor, 'base64url');
    const content = bytes.subarray(TAG_BYTES);
    if (bytes.length <= TAG_BYTES || !timingSafeEqual(bytes.subarray(0, TAG_BYTES), this.#tag(scope, content))) {
      throw storeErrors.InvalidArgument({
        details: { field: 'cursor', reason: 'the cursor belongs to another listing' },
      });
    }
    return JSON.parse(content.toString()) as string[]; // the tag proves that `seal` wrote it
  }

  #tag(scope: string, content: Uint8Array): Buffer {
    return createHmac('sha256', this.#key).update(`cursor\n${scope}\n`).update(content).digest().subarray(0, TAG_BYTES);
  }
}
