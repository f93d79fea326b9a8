import type { IncomingMessage } from 'node:http';
import { CommandFailure } from '../client/command-failure.ts';
import { createVerifier, parseProofs } from './content-proof.ts';
import type { BodyProgress } from './progress.ts';

/** Yields the bytes of a response; throws at the end if they differ from those stored. */
export async function* verified(
  body: IncomingMessage,
  name: string,
  progress?: BodyProgress,
): AsyncGenerator<Uint8Array, void> {
  const [proof] = parseProofs(body.headers);
  const verifier = proof === undefined ? null : createVerifier(proof);
  const expectedBytes = Number(body.headers['content-length'] ?? Number.NaN);
  let receivedBytes = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    // a response without an encoding yields bytes
    verifier?.update(chunk);
    receivedBytes += chunk.length;
    yield chunk;
    progress?.add(chunk.length);
  }
  if (!Number.isNaN(expectedBytes) && receivedBytes !== expectedBytes) {
    throw new CommandFailure(`${name} ended after ${receivedBytes} of ${expectedBytes} bytes`);
  }
  if (verifier?.holds() === false) throw new CommandFailure(`${name} was corrupted in transit: checksum mismatch`);
}
