import type { Principal } from '@svc/access';
import type { Clock, Random } from '@svc/runtime';
import { timestamp } from '../timestamps.ts';
import { accountErrors } from '../../errors.ts';
import type { Page } from '@svc/runtime';
import type { PageRequest } from '../paging.ts';
import { pageOf } from '@svc/runtime';
import type { Scope, ServiceAccount } from '../records.ts';
import type { AccountDatabase, AccountStores } from '../stores.ts';
import { requestedExpiry } from './lifetime.ts';
import { hashToken, mintE2bKey, mintToken } from './random-token.ts';

/** `svc`: `sat_…`. `e2b`: `e2b_…`, which E2B clients require. Both have the same rights and the same life. */
export type TokenFormat = 'svc' | 'e2b';

export interface NewServiceAccount {
  workspaceUuid: string;
  name: string;
  scopes: readonly Scope[];
  tokenFormat: TokenFormat;
  expiresAt?: string | null | undefined;
  createdBy: string;
  /** The credential that creates it and whose revocation removes it. */
  madeWith: { tokenId: string | null; accountId: string | null };
  /** When the caller's own credential expires. */
  latestExpiry: string | null;
  /** The caller's scopes if it is a service account: the new one gets no scope that it lacks. */
  widestScopes: readonly Scope[] | null;
}

const WIDTH: Readonly<Record<Scope, number>> = { read: 0, write: 1, admin: 2 };

/** Service accounts, `sat_…` or `e2b_…`: machine identities of one workspace. */
export class ServiceAccounts {
  readonly #database: AccountDatabase;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #maxPerWorkspace: number;

  constructor(database: AccountDatabase, clock: Clock, random: Random, maxPerWorkspace: number) {
    this.#database = database;
    this.#clock = clock;
    this.#random = random;
    this.#maxPerWorkspace = maxPerWorkspace;
  }

  async list(workspaceUuid: string, page: PageRequest): Promise<Page<ServiceAccount>> {
    const rows = await this.#database.serviceAccounts.ofWorkspace(workspaceUuid, page);
    return pageOf(rows, page.limit, (last) => [last.createdAt, last.id]);
  }

  /** Every account of the workspace, oldest first; the limit of accounts bounds it. */
  async all(workspaceUuid: string): Promise<readonly ServiceAccount[]> {
    return this.#database.serviceAccounts.ofWorkspace(workspaceUuid, { after: null, limit: this.#maxPerWorkspace });
  }

  /** Only this call returns the secret. */
  async create(request: NewServiceAccount): Promise<{ account: ServiceAccount; secret: string }> {
    const now = this.#clock.now();
    if (request.widestScopes !== null) assertNotWider(request.scopes, request.widestScopes);
    const { bytes } = this.#random;
    const secret = request.tokenFormat === 'e2b' ? mintE2bKey(bytes) : mintToken('sat_', bytes);
    const account: ServiceAccount = {
      id: this.#random.uuid(),
      workspaceUuid: request.workspaceUuid,
      name: request.name,
      tokenHash: hashToken(secret),
      scopes: [...new Set(request.scopes)].join(','),
      createdBy: request.createdBy,
      createdAt: timestamp(now),
      expiresAt: requestedExpiry(request.expiresAt, now, request.latestExpiry),
      lastUsedAt: null,
      madeWithTokenId: request.madeWith.tokenId,
      madeWithAccountId: request.madeWith.accountId,
    };
    await this.#database.transact(async (stores) => {
      await assertStillThere(stores, request.madeWith);
      if (!(await stores.workspaces.lock(request.workspaceUuid))) throw accountErrors.WORKSPACE_NOT_FOUND();
      if ((await stores.serviceAccounts.count(request.workspaceUuid)) >= this.#maxPerWorkspace) {
        throw accountErrors.LIMIT_REACHED({ details: { what: 'service accounts', limit: this.#maxPerWorkspace } });
      }
      await stores.serviceAccounts.insert(account);
    });
    return { account, secret };
  }

  async rename(workspaceUuid: string, id: string, name: string): Promise<void> {
    if (!(await this.#database.serviceAccounts.rename(workspaceUuid, id, name))) {
      throw accountErrors.SERVICE_ACCOUNT_NOT_FOUND();
    }
  }

  /** Takes effect with the next request, because every request looks the token up. */
  async revoke(workspaceUuid: string, id: string): Promise<void> {
    if (!(await this.#database.serviceAccounts.delete(workspaceUuid, id))) {
      throw accountErrors.SERVICE_ACCOUNT_NOT_FOUND();
    }
  }
}

/** What limits an account that this principal creates. */
export function boundsOf(
  principal: Principal,
): Pick<NewServiceAccount, 'createdBy' | 'madeWith' | 'latestExpiry' | 'widestScopes'> {
  const { id, credential, credentialId, isStartToken, expiresAt, scopes } = principal;
  return {
    createdBy: id,
    madeWith: {
      // The token of `svc up` changes with every start.
      tokenId: credential === 'api_token' && isStartToken !== true ? credentialId : null,
      accountId: credential === 'service_account' ? id : null,
    },
    latestExpiry: expiresAt,
    widestScopes: scopes ?? null,
  };
}

export function parseScopes(account: ServiceAccount): Scope[] {
  return account.scopes.split(',').filter((scope): scope is Scope => Object.hasOwn(WIDTH, scope));
}

/** Rejects a credential that has just been revoked. */
async function assertStillThere(
  stores: Pick<AccountStores, 'apiTokens' | 'serviceAccounts'>,
  { tokenId, accountId }: NewServiceAccount['madeWith'],
): Promise<void> {
  const isGone =
    (tokenId !== null && (await stores.apiTokens.byId(tokenId)) === undefined) ||
    (accountId !== null && (await stores.serviceAccounts.byId(accountId)) === undefined);
  if (isGone) throw accountErrors.UNAUTHORIZED();
}

function assertNotWider(asked: readonly Scope[], held: readonly Scope[]): void {
  const widest = Math.max(...held.map((scope) => WIDTH[scope]));
  const wider = asked.find((scope) => WIDTH[scope] > widest);
  if (wider !== undefined) throw accountErrors.SCOPE_TOO_WIDE({ details: { field: 'scopes', scope: wider } });
}
