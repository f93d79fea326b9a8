import type { Clock, Random } from '@svc/runtime';
import { timestamp } from '../timestamps.ts';
import { accountErrors } from '../../errors.ts';
import type { Page } from '@svc/runtime';
import type { PageRequest } from '../paging.ts';
import { pageOf } from '@svc/runtime';
import type { SshKey } from '../records.ts';
import type { AccountDatabase } from '../stores.ts';
import { parseSshPublicKey } from './ssh-public-key.ts';

/** Public keys that users log in with over SSH. */
export class SshKeys {
  readonly #database: AccountDatabase;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #maxPerUser: number;

  constructor(database: AccountDatabase, clock: Clock, random: Random, maxPerUser: number) {
    this.#database = database;
    this.#clock = clock;
    this.#random = random;
    this.#maxPerUser = maxPerUser;
  }

  async list(userId: string, page: PageRequest): Promise<Page<SshKey>> {
    const rows = await this.#database.sshKeys.ofUser(userId, page);
    return pageOf(rows, page.limit, (last) => [last.createdAt, last.id]);
  }

  /** Throws SSH_KEY_UNSUITABLE, LIMIT_REACHED, and SSH_KEY_TAKEN if any user has registered the key. */
  async add(userId: string, name: string, publicKey: string): Promise<SshKey> {
    const key: SshKey = {
      id: this.#random.uuid(),
      userId,
      name,
      ...parseSshPublicKey(publicKey),
      createdAt: timestamp(this.#clock.now()),
      lastUsedAt: null,
    };
    await this.#database.transact(async (stores) => {
      await stores.users.lock(userId);
      if ((await stores.sshKeys.countOfUser(userId)) >= this.#maxPerUser) {
        throw accountErrors.LIMIT_REACHED({ details: { what: 'SSH keys', limit: this.#maxPerUser } });
      }
      if (!(await stores.sshKeys.insert(key))) throw accountErrors.SSH_KEY_TAKEN();
    });
    return key;
  }

  /** Open connections end within two seconds, because their right is checked again. */
  async remove(userId: string, id: string): Promise<void> {
    if (!(await this.#database.sshKeys.delete(userId, id))) throw accountErrors.SSH_KEY_NOT_FOUND();
  }
}
