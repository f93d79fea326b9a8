import type { Action, MakerRequest } from '@svc/access';
import { workspaceRules } from '../authorize/authorize.ts';
import type { Caller } from '../authorize/authorize.ts';
import type { ServiceAccount } from '../records.ts';
import type { AccountStores } from '../stores.ts';
import { isExpired } from '../tokens/lifetime.ts';
import { parseScopes } from '../tokens/service-accounts.ts';

type Stores = Pick<AccountStores, 'users' | 'apiTokens' | 'serviceAccounts' | 'workspaces' | 'members' | 'teams'>;

/** The actions that the creator of a lasting credential may perform in a workspace now; see `Access.allowedActions`. */
export async function allowedActions(
  stores: Stores,
  now: Date,
  { maker, workspaceUuid, actions }: MakerRequest,
): Promise<ReadonlySet<Action>> {
  const caller = await callerBehind(stores, now, maker);
  if (caller === undefined) return new Set();
  const isAllowed = await workspaceRules(stores, caller, workspaceUuid);
  return new Set(actions.filter(isAllowed));
}

/** The creator as a caller today; undefined once the user or the token used is gone. */
async function callerBehind(
  stores: Stores,
  now: Date,
  { principalId, tokenId }: MakerRequest['maker'],
): Promise<Caller | undefined> {
  const user = await stores.users.byId(principalId);
  if (user === undefined) return serviceAccountCaller(await stores.serviceAccounts.byId(principalId), now);
  if (isExpired(user.expiresAt, now)) return undefined;
  if (tokenId !== null) {
    const token = await stores.apiTokens.byId(tokenId);
    if (token?.userId !== user.id || isExpired(token.expiresAt, now)) return undefined;
  }
  return { kind: user.kind === 'guest' ? 'guest' : 'user', id: user.id };
}

function serviceAccountCaller(account: ServiceAccount | undefined, now: Date): Caller | undefined {
  if (account === undefined || isExpired(account.expiresAt, now)) return undefined;
  const { id, workspaceUuid } = account;
  return { kind: 'service_account', id, workspaceUuid, scopes: parseScopes(account) };
}
