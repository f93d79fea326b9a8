import type { Clock, Random } from '@svc/runtime';
import { timestamp } from '../timestamps.ts';
import { accountErrors } from '../../errors.ts';
import type { PasswordHasher } from '../password/password-hasher.ts';
import { assertSuitablePassword } from '../password/password-rules.ts';
import { accountQuotas } from '../quotas/account-quotas.ts';
import type { OwnerRoom } from '../quotas/owner-room.ts';
import type { Invitation, Team, User } from '../records.ts';
import type { AccountDatabase, AccountStores } from '../stores.ts';
import { hashToken } from '../tokens/random-token.ts';
import { createPerson } from '../users/create-person.ts';
import { normalizeEmail } from '../users/email.ts';

export interface NewAccount {
  email: string;
  name: string;
  password: string;
}

export interface Accepted {
  user: User;
  invitation: Invitation;
  team: Team;
  /** True if this call created the user. */
  created: boolean;
}

export interface AcceptanceDeps {
  database: AccountDatabase;
  clock: Clock;
  random: Random;
  hasher: PasswordHasher;
  maxMembers: number;
  room: OwnerRoom;
}

/** Turns an invitation into a membership. The link is the proof: it works once, for whichever holder uses it first. */
export class InvitationAcceptance {
  readonly #database: AccountDatabase;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #hasher: PasswordHasher;
  readonly #maxMembers: number;
  readonly #room: OwnerRoom;

  constructor({ database, clock, random, hasher, maxMembers, room }: AcceptanceDeps) {
    this.#database = database;
    this.#clock = clock;
    this.#random = random;
    this.#hasher = hasher;
    this.#maxMembers = maxMembers;
    this.#room = room;
  }

  /** A signed-in user may accept with any e-mail; the audit log records both. */
  async asUser(secret: string, userId: string): Promise<Accepted> {
    const invitation = await this.#open(secret);
    return this.#database.transact(async (stores) => {
      const user = await stores.users.byId(userId);
      if (user === undefined) throw accountErrors.UNAUTHORIZED();
      return { user, invitation, team: await this.#join(stores, invitation, user.id), created: false };
    });
  }

  /** A new user gets exactly the invited e-mail: the link proves no other. */
  async asNewUser(secret: string, account: NewAccount, remoteAddress: string): Promise<Accepted> {
    const invitation = await this.#open(secret);
    const email = normalizeEmail(account.email);
    if (email !== invitation.email) throw accountErrors.EMAIL_MISMATCH({ details: { field: 'email' } });
    const { name, password } = account;
    if ((await this.#database.users.byEmail(email)) !== undefined) throw accountErrors.SIGN_IN_TO_ACCEPT();
    assertSuitablePassword(password, { email, name });
    const sponsorId = await this.#findSponsor(invitation);
    const assertRoom = sponsorId === null ? null : await this.#room(accountQuotas.invited_accounts, sponsorId);
    const passwordHash = await this.#hasher.hash(password, { remoteAddress, account: email });
    return this.#database.transact(async (stores) => {
      await stores.teams.lock(invitation.teamUuid);
      if (sponsorId !== null) {
        await stores.users.lock(sponsorId);
        assertRoom?.(await stores.users.countSponsoredBy(sponsorId));
      }
      const user = await createPerson(
        stores,
        { clock: this.#clock, random: this.#random },
        { email, name, passwordHash, sponsorId },
      );
      if (user === undefined) throw accountErrors.SIGN_IN_TO_ACCEPT();
      return { user, invitation, team: await this.#join(stores, invitation, user.id), created: true };
    });
  }

  /**
   * The user whose quota counts the new account: the first in the chain of invitations, so that accounts which invite
   * each other share one quota. Null if the operator invites.
   */
  async #findSponsor({ invitedBy, teamUuid }: Invitation): Promise<string | null> {
    const { users, teams } = this.#database;
    const inviter = (await users.byId(invitedBy)) ?? (await users.byId((await teams.byUuid(teamUuid))?.ownerId ?? ''));
    if (inviter === undefined) throw accountErrors.INVITATION_NOT_FOUND();
    return inviter.operatorSince === null ? (inviter.sponsorId ?? inviter.id) : null;
  }

  async #open(secret: string): Promise<Invitation> {
    const invitation = await this.#database.invitations.byTokenHash(hashToken(secret));
    const now = timestamp(this.#clock.now());
    if (invitation === undefined || invitation.acceptedAt !== null || invitation.expiresAt <= now) {
      throw accountErrors.INVITATION_NOT_FOUND();
    }
    return invitation;
  }

  async #join(stores: AccountStores, invitation: Invitation, userId: string): Promise<Team> {
    const { teamUuid, role } = invitation;
    const now = timestamp(this.#clock.now());
    await stores.teams.lock(teamUuid);
    const team = await stores.teams.byUuid(teamUuid);
    // Only one of several concurrent callers can claim the invitation; a revoked or expired one cannot be claimed.
    if (team === undefined || !(await stores.invitations.claim(invitation.id, userId, now))) {
      throw accountErrors.INVITATION_NOT_FOUND();
    }
    if ((await stores.members.count(teamUuid)) >= this.#maxMembers) {
      throw accountErrors.LIMIT_REACHED({ details: { what: 'members of a team', limit: this.#maxMembers } });
    }
    const joined = await stores.members.insert({ teamUuid, userId, role, createdAt: now });
    if (!joined) throw accountErrors.ALREADY_MEMBER(); // rolls the claim back, so the link stays usable
    return team;
  }
}
