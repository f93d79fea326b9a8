import type { Clock, Random } from '@svc/runtime';
import { timestamp } from '../timestamps.ts';
import type { User, Workspace } from '../records.ts';
import type { AccountStores } from '../stores.ts';

export interface PersonDeps {
  clock: Clock;
  random: Random;
}

export interface NewPerson {
  email: string;
  name: string;
  passwordHash: string | null;
  operator?: boolean;
  sponsorId?: string | null;
}

/** Earlier than any token: an external issuer may have signed one long before the user existed here. */
const NEVER_SIGNED_OUT = '1970-01-01T00:00:00.000Z';

/** Creates the user and the default workspace. Returns undefined if the e-mail is taken. */
export async function createPerson(
  stores: AccountStores,
  deps: PersonDeps,
  person: NewPerson,
): Promise<User | undefined> {
  const { clock, random } = deps;
  const now = timestamp(clock.now());
  const user: User = {
    id: random.uuid(),
    kind: 'person',
    email: person.email,
    name: person.name,
    passwordHash: person.passwordHash,
    operatorSince: person.operator === true ? now : null,
    tokensValidFrom: NEVER_SIGNED_OUT,
    createdAt: now,
    updatedAt: now,
    expiresAt: null,
    sponsorId: person.sponsorId ?? null,
    guestAddress: null,
    guestNetwork: null,
  };
  if (!(await stores.users.insert(user))) return undefined;
  await stores.workspaces.insert(newWorkspace(deps, user.id, DEFAULT_WORKSPACE_NAME, null));
  return user;
}

export const DEFAULT_WORKSPACE_NAME = 'Default';

export function newWorkspace(
  { clock, random }: PersonDeps,
  ownerId: string,
  name: string,
  teamUuid: string | null,
): Workspace {
  const now = timestamp(clock.now());
  return { uuid: random.uuid(), name, ownerId, teamUuid, deletingSince: null, createdAt: now, updatedAt: now };
}
