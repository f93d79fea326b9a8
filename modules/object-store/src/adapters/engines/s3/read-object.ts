import { storeErrors } from '../../../errors.ts';
import type { ReadRange } from '../../../domain/ports/blob-store.ts';
import { isAbsent, isOutOfRange, toStoreError } from './failures.ts';
import type { ResponseBody } from './response-body.ts';
import type { Upstream } from './upstream.ts';

/** How many times a cut-off read resumes. */
const RESUMES = 3;

/** Streams a range. A cut-off read resumes at the first missing byte. */
export async function* readObject(upstream: Upstream, key: string, range: ReadRange): AsyncGenerator<Uint8Array> {
  let position = range.start;
  for (let attempt = 0; position < range.endExclusive; attempt += 1) {
    const body = await open(upstream, key, position, range.endExclusive);
    try {
      for (let block = await body.next(); block !== null; block = await body.next()) {
        position += block.length;
        yield block;
      }
      if (position < range.endExclusive) throw new Error('the engine ended a body early');
    } catch (error) {
      upstream.availability.failed();
      if (attempt >= RESUMES) throw toStoreError(error);
    } finally {
      body.destroy();
    }
  }
}

async function open(upstream: Upstream, key: string, start: number, endExclusive: number): Promise<ResponseBody> {
  try {
    const response = await upstream.get(key, start, endExclusive);
    const { 'content-length': length } = response.headers;
    if (length !== undefined && Number(length) !== endExclusive - start) {
      response.body.destroy();
      throw storeErrors.DataLost({ details: { reason: 'a stored object is too short' } });
    }
    return response.body;
  } catch (error) {
    if (isAbsent(error)) {
      throw storeErrors.DataLost({ cause: error, details: { reason: 'a stored object is missing' } });
    }
    if (isOutOfRange(error)) {
      throw storeErrors.DataLost({ cause: error, details: { reason: 'a stored object is too short' } });
    }
    throw toStoreError(error);
  }
}
