import type { Clock, Random } from '@svc/runtime';
import { secondsAfter, timestamp } from '../timestamps.ts';
import { accountErrors } from '../../errors.ts';
import { type Page, pageOf } from '@svc/runtime';
import type { PageRequest } from '../paging.ts';
import type { Invitation, TeamRole } from '../records.ts';
import type { AccountDatabase } from '../stores.ts';
import { requestedExpiry } from '../tokens/lifetime.ts';
import { hashToken, mintToken } from '../tokens/random-token.ts';
import { normalizeEmail } from '../users/email.ts';

export interface NewInvitation {
  teamUuid: string;
  email: string;
  role: TeamRole;
  /** Absent: seven days, or the remaining lifetime of the caller's credential. */
  expiresInSeconds: number | undefined;
  invitedBy: string;
  /** When the caller's own credential expires. */
  latestExpiry: string | null;
}

const DEFAULT_LIFETIME_SECONDS = 7 * 86_400;

/** Invitations by link. The platform sends no mail: the admin hands the link over. */
export class Invitations {
  readonly #database: AccountDatabase;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #maxOpenPerTeam: number;

  constructor(database: AccountDatabase, clock: Clock, random: Random, maxOpenPerTeam: number) {
    this.#database = database;
    this.#clock = clock;
    this.#random = random;
    this.#maxOpenPerTeam = maxOpenPerTeam;
  }

  async list(teamUuid: string, page: PageRequest): Promise<Page<Invitation>> {
    const rows = await this.#database.invitations.open(teamUuid, timestamp(this.#clock.now()), page);
    return pageOf(rows, page.limit, (last) => [last.createdAt, last.id]);
  }

  /** Only this call returns the secret. */
  async create(request: NewInvitation): Promise<{ invitation: Invitation; secret: string }> {
    const email = normalizeEmail(request.email);
    if (email === undefined) {
      throw accountErrors.INVALID_REQUEST({ details: { field: 'email', reason: 'email is not an email address' } });
    }
    const now = this.#clock.now();
    const secret = mintToken('svc_inv_', this.#random.bytes);
    const invitation: Invitation = {
      id: this.#random.uuid(),
      teamUuid: request.teamUuid,
      email,
      role: request.role,
      tokenHash: hashToken(secret),
      invitedBy: request.invitedBy,
      createdAt: timestamp(now),
      expiresAt: expiryOf(request, now),
      acceptedAt: null,
      acceptedBy: null,
    };
    await this.#insert(invitation);
    return { invitation, secret };
  }

  async revoke(teamUuid: string, id: string): Promise<void> {
    if (!(await this.#database.invitations.delete(teamUuid, id))) throw accountErrors.INVITATION_NOT_FOUND();
  }

  async #insert(invitation: Invitation): Promise<void> {
    const { teamUuid, email, createdAt } = invitation;
    await this.#database.transact(async (stores) => {
      if (!(await stores.teams.lock(teamUuid))) throw accountErrors.TEAM_NOT_FOUND();
      const invited = await stores.users.byEmail(email);
      if (invited !== undefined && (await stores.members.get(teamUuid, invited.id)) !== undefined) {
        throw accountErrors.ALREADY_MEMBER();
      }
      if ((await stores.invitations.countOpen(teamUuid, createdAt)) >= this.#maxOpenPerTeam) {
        throw accountErrors.LIMIT_REACHED({ details: { what: 'open invitations', limit: this.#maxOpenPerTeam } });
      }
      await stores.invitations.insert(invitation);
    });
  }
}

function expiryOf({ expiresInSeconds, latestExpiry }: NewInvitation, now: Date): string {
  const usual = timestamp(secondsAfter(now, DEFAULT_LIFETIME_SECONDS));
  if (expiresInSeconds === undefined) return latestExpiry !== null && latestExpiry < usual ? latestExpiry : usual;
  const expiresAt = timestamp(secondsAfter(now, expiresInSeconds));
  return requestedExpiry(expiresAt, now, latestExpiry, 'expires_in') ?? expiresAt;
}
