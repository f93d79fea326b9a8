export interface Argon2Parameters {
  memoryKib: number;
  passes: number;
  parallelism: number;
}

export interface StoredPassword {
  parameters: Argon2Parameters;
  salt: Buffer;
  hash: Buffer;
}

const SHAPE = /^\$argon2id\$v=19\$m=(\d{1,8}),t=(\d{1,4}),p=(\d{1,3})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** The PHC string format: a hash carries its parameters, so that they can change later. */
export function formatPhc({ parameters, salt, hash }: StoredPassword): string {
  const { memoryKib, passes, parallelism } = parameters;
  return `$argon2id$v=19$m=${memoryKib},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(hash)}`;
}

/** Undefined unless the text is a complete argon2id string of version 19. */
export function parsePhc(text: string): StoredPassword | undefined {
  const [, memory, passes, parallelism, salt, hash] = SHAPE.exec(text) ?? [];
  if (salt === undefined || hash === undefined) return undefined;
  return {
    parameters: { memoryKib: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  };
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/(?<!=)=+$/, '');
}
