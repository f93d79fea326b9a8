import type { Clock, Random } from '@svc/runtime';
import { timestamp } from '../../domain/timestamps.ts';
import type { User } from '../../domain/records.ts';
import type { AccountDatabase } from '../../domain/stores.ts';
import { createPerson } from '../../domain/users/create-person.ts';
import type { ExternalIdentity } from './trusted-issuers.ts';

/**
 * Finds the user behind an external token. The first token finds the user by verified e-mail (or creates one, if
 * configured) and links the subject. From then on only the subject counts, because issuers reassign e-mails of people
 * who left (OpenID Connect Core, 5.7).
 */
export class ExternalUsers {
  readonly #database: AccountDatabase;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(database: AccountDatabase, clock: Clock, random: Random) {
    this.#database = database;
    this.#clock = clock;
    this.#random = random;
  }

  async resolve(identity: ExternalIdentity): Promise<User | undefined> {
    const user = (await this.#known(identity)) ?? (await this.#link(identity));
    if (user === undefined) return undefined;
    // The user has since signed out everywhere: tokens issued before that are refused.
    return identity.issuedAtMs < Date.parse(user.tokensValidFrom) ? undefined : user;
  }

  async #known({ issuer, subject }: ExternalIdentity): Promise<User | undefined> {
    const link = await this.#database.identities.bySubject(issuer, subject);
    return link === undefined ? undefined : this.#database.users.byId(link.userId);
  }

  async #link(identity: ExternalIdentity): Promise<User | undefined> {
    const { issuer, subject, email } = identity;
    if (email === null) return undefined;
    const createdAt = timestamp(this.#clock.now());
    const linked = await this.#database.transact(async (stores) => {
      const existing = await stores.users.byEmail(email);
      if (existing === undefined && !identity.autoCreate) return false;
      const user = existing ?? (await this.#create(stores, email, identity));
      if (user === undefined) return false;
      return stores.identities.insert({ issuer, subject, userId: user.id, createdAt });
    });
    // Of two concurrent first requests, the slower one finds the other's link.
    return linked || identity.autoCreate ? this.#known(identity) : undefined;
  }

  #create(
    stores: Parameters<Parameters<AccountDatabase['transact']>[0]>[0],
    email: string,
    identity: ExternalIdentity,
  ): Promise<User | undefined> {
    return createPerson(
      stores,
      { clock: this.#clock, random: this.#random },
      { email, name: identity.name ?? email, passwordHash: null },
    );
  }
}
