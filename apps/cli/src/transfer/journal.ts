import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readIfThere, writePrivateFile } from '../client/private-file.ts';

/**
 * What an interrupted transfer leaves, so that the same command can go on with it: one small file for each. It is never
 * trusted, since checksums decide, so that it need not survive the machine.
 */
export class Journal<Entry> {
  readonly #path: string;
  #tail: Promise<void> = Promise.resolve();

  /** `identity` names the transfer: where from and where to. */
  constructor(folder: string, identity: readonly string[]) {
    this.#path = join(folder, 'transfers', `${journalId(identity)}.json`);
  }

  async read(): Promise<Entry | null> {
    const text = await readIfThere(this.#path);
    if (text === null) return null;
    try {
      return JSON.parse(text) as Entry; // written by this class
    } catch {
      return null; // damaged: the transfer starts over
    }
  }

  /** One after the other, in the order of the calls. */
  write(entry: Entry): Promise<void> {
    const text = JSON.stringify(entry);
    const write = (): Promise<void> => writePrivateFile(this.#path, text, { durable: false });
    this.#tail = this.#tail.then(write, write);
    return this.#tail;
  }

  async remove(): Promise<void> {
    await this.#tail.catch(() => undefined);
    await rm(this.#path, { force: true });
  }
}

export function journalId(identity: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 16);
}
