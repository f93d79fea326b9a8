import { createHash, randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isThere, namesIn, readIfThere, writeWhole } from './files.ts';
import { isTokenAlive, ownToken } from './process-token.ts';

/**
 * References to images, stored where every process that shares the images can read them: `holds/<platform>/<sandbox>`
 * contains the digest of a sandbox's image; `leases/<process>-<random>` means that an image is being prepared.
 */
export class References {
  readonly #folder: string;
  readonly #owner: string;
  readonly #group: string;

  /** `owner`: the folder of the holders, such as a platform's data. Its holds expire when the folder is gone. */
  constructor(folder: string, owner: string) {
    this.#folder = folder;
    this.#owner = owner;
    this.#group = join(folder, 'holds', createHash('sha256').update(owner).digest('hex').slice(0, 16));
  }

  /** Not synced, because after a power loss the holder declares itself again. */
  async hold(holder: string, digest: string): Promise<void> {
    try {
      await writeFile(join(this.#group, holder), digest, { mode: 0o600 });
    } catch (error) {
      if (await isThere(this.#group)) throw error;
      await this.#begin();
      await writeFile(join(this.#group, holder), digest, { mode: 0o600 });
    }
  }

  /** Returns the digest it held. */
  async release(holder: string): Promise<string | null> {
    const digest = await readIfThere(join(this.#group, holder));
    await rm(join(this.#group, holder), { force: true });
    return digest;
  }

  /** Declares the holders of this owner; with `exactly`, removes all others. */
  async declare(holders: ReadonlyMap<string, string>, { exactly }: { exactly: boolean }): Promise<void> {
    await this.#begin();
    for (const name of exactly ? await namesIn(this.#group) : []) {
      if (name !== OWNER_FILE && !holders.has(name)) await this.release(name);
    }
    for (const [holder, digest] of holders) await this.hold(holder, digest);
  }

  /** Digests of held images. Removes holders whose platform is gone. */
  async held(): Promise<Set<string>> {
    const digests = new Set<string>();
    for (const name of await namesIn(join(this.#folder, 'holds'))) {
      const group = join(this.#folder, 'holds', name);
      const owner = await readIfThere(join(group, OWNER_FILE));
      if (owner !== null && !(await isThere(owner))) {
        await rm(group, { recursive: true, force: true });
        continue;
      }
      for (const holder of await namesIn(group)) {
        const digest = holder === OWNER_FILE ? null : await readIfThere(join(group, holder));
        if (digest !== null) digests.add(digest);
      }
    }
    return digests;
  }

  /** Prevents garbage collection by any process until the returned function is called. */
  async lease(): Promise<() => Promise<void>> {
    const file = join(this.#folder, 'leases', `${ownToken()}-${randomBytes(6).toString('hex')}`);
    await writeFile(file, '', { mode: 0o600 });
    return () => rm(file, { force: true });
  }

  async isLeased(): Promise<boolean> {
    let leased = false;
    for (const name of await namesIn(join(this.#folder, 'leases'))) {
      if (isTokenAlive(name.split('-')[0] ?? '')) leased = true;
      else await rm(join(this.#folder, 'leases', name), { force: true });
    }
    return leased;
  }

  async #begin(): Promise<void> {
    await mkdir(this.#group, { recursive: true, mode: 0o700 });
    await writeWhole(join(this.#group, OWNER_FILE), this.#owner);
  }
}

const OWNER_FILE = 'owner';
