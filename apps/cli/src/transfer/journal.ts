import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readIfThere, writePrivateFile } from '../client/private-file.ts';

/**
 * State of an interrupted transfer for resuming it: one small file each. Checksums decide, so a journal is never
 * trusted and need not survive a crash of the machine.
 */
export class Journal<Entry> {
  readonly #path: string;
  #tail: Promise<void> = Promise.resolve();

  /** `identity` names the transfer: its source and target. */
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

  /** Writes sequentially, in call order. */
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
