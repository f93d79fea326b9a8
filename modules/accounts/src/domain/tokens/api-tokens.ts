import type { Clock, Random } from '@svc/runtime';
import { timestamp } from '../timestamps.ts';
import { accountErrors } from '../../errors.ts';
import type { Page } from '@svc/runtime';
import type { PageRequest } from '../paging.ts';
import { pageOf } from '@svc/runtime';
import type { ApiToken } from '../records.ts';
import type { AccountDatabase } from '../stores.ts';
import { requestedExpiry } from './lifetime.ts';
import { hashToken, mintToken } from './random-token.ts';

export interface NewApiToken {
  userId: string;
  name: string;
  expiresAt?: string | null | undefined;
  /** When the caller's own credential expires. */
  latestExpiry: string | null;
}

/** API tokens of users, `svc_pat_…`. */
export class ApiTokens {
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

  async list(userId: string, page: PageRequest): Promise<Page<ApiToken>> {
    const rows = await this.#database.apiTokens.ofUser(userId, page);
    return pageOf(rows, page.limit, (last) => [last.createdAt, last.id]);
  }

  /** Only this call returns the secret. */
  async create(request: NewApiToken): Promise<{ token: ApiToken; secret: string }> {
    const now = this.#clock.now();
    const expiresAt = requestedExpiry(request.expiresAt, now, request.latestExpiry);
    const { token, secret } = this.#mint(request.userId, request.name, expiresAt, null);
    await this.#database.transact(async (stores) => {
      await stores.users.lock(request.userId);
      if ((await stores.apiTokens.countOfUser(request.userId)) >= this.#maxPerUser) {
        throw accountErrors.LIMIT_REACHED({ details: { what: 'API tokens', limit: this.#maxPerUser } });
      }
      await stores.apiTokens.insert(token);
    });
    return { token, secret };
  }

  /** Takes effect with the next request, because every request looks the token up. */
  async revoke(userId: string, id: string): Promise<void> {
    if (!(await this.#database.apiTokens.delete(userId, id))) throw accountErrors.TOKEN_NOT_FOUND();
  }

  /**
   * Keeps one token per purpose: the previous one is revoked in the same transaction, and so is `also` if it has that
   * purpose.
   */
  async replaceForPurpose(
    userId: string,
    name: string,
    purpose: string,
    also: { readonly token: string; readonly purpose: string } | null = null,
  ): Promise<string> {
    const { token, secret } = this.#mint(userId, name, null, purpose);
    await this.#database.transact(async (stores) => {
      await stores.users.lock(userId);
      await stores.apiTokens.deleteByPurpose(purpose);
      const other = also === null ? undefined : await stores.apiTokens.byTokenHash(hashToken(also.token));
      if (other !== undefined && other.purpose === also?.purpose) await stores.apiTokens.delete(userId, other.id);
      await stores.apiTokens.insert(token);
    });
    return secret;
  }

  #mint(
    userId: string,
    name: string,
    expiresAt: string | null,
    purpose: string | null,
  ): { token: ApiToken; secret: string } {
    const secret = mintToken('svc_pat_', this.#random.bytes);
    const token: ApiToken = {
      id: this.#random.uuid(),
      userId,
      name,
      tokenHash: hashToken(secret),
      purpose,
      createdAt: timestamp(this.#clock.now()),
      expiresAt,
      lastUsedAt: null,
    };
    return { token, secret };
  }
}
