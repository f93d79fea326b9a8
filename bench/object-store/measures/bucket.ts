import { ask, runLoad, type PreparedRequest } from '../load/run-load.ts';
import { sha256, Signer, type Target } from '../load/signature.ts';

/** The bucket of every engine. */
export const BUCKET = 'bench';

export async function makeBucket(target: Target, bucket = BUCKET): Promise<void> {
  await ask(target.endpoint, new Signer(target).head({ method: 'PUT', path: `/${bucket}`, bodyBytes: 0 }));
}

/**
 * Returns requests that put one body under many keys. The signature includes the hash of the body, as over plain HTTP.
 */
export function putRequests(
  target: Target,
  keys: readonly string[],
  body: Buffer,
  bucketOf: (index: number) => string = () => BUCKET,
): PreparedRequest[] {
  const signer = new Signer(target);
  const payloadHash = sha256(body);
  return keys.map((key, index) => {
    const request = { method: 'PUT', path: `/${bucketOf(index)}/${key}`, bodyBytes: body.length, payloadHash } as const;
    return { head: signer.head(request), body };
  });
}

export function getRequests(target: Target, keys: readonly string[]): PreparedRequest[] {
  const signer = new Signer(target);
  return keys.map((key) => ({ head: signer.head({ method: 'GET', path: `/${BUCKET}/${key}` }) }));
}

/** Puts all of them, without a time limit. */
export async function fill(target: Target, requests: readonly PreparedRequest[], connections = 16): Promise<void> {
  const options = { endpoint: target.endpoint, connections, milliseconds: 30 * 60_000, repeat: false };
  await runLoad(requests, options);
}
