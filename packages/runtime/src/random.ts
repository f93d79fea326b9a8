import { randomBytes, randomUUID } from 'node:crypto';

/** Randomness as a dependency, so that tests can control it. */
export interface Random {
  readonly bytes: (sizeBytes: number) => Buffer;
  readonly uuid: () => string;
}

/** The cryptographically secure randomness of the process. */
export const systemRandom: Random = {
  bytes: (sizeBytes) => randomBytes(sizeBytes),
  uuid: () => randomUUID(),
};
