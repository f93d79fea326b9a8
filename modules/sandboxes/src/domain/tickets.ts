import { createHash } from 'node:crypto';
import type { GrantedAccess } from '@svc/access';
import type { Clock, Random } from '@svc/runtime';
import type { TicketRepository } from './ports.ts';

const LIFETIME_MS = 30_000;
const PREFIX = 'svc_tkt_';

export interface IssuedTicket {
  readonly ticket: string;
  readonly expiresAt: string;
}

/** Single-use tickets for terminal URLs, for browsers. Stored as hashes. */
export class Tickets {
  readonly #repository: TicketRepository;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(repository: TicketRepository, clock: Clock, random: Random) {
    this.#repository = repository;
    this.#clock = clock;
    this.#random = random;
  }

  /** `notAfter`: expiry of the credential that issues it (ISO 8601, UTC), or null. */
  async issue(sandboxId: string, granted: GrantedAccess, notAfter: string | null): Promise<IssuedTicket> {
    const ticket = `${PREFIX}${this.#random.bytes(32).toString('base64url')}`;
    const usual = new Date(this.#clock.nowMs() + LIFETIME_MS).toISOString();
    const expiresAt = notAfter !== null && notAfter < usual ? notAfter : usual;
    await this.#repository.insert({ hash: hashOf(ticket), sandboxId, granted, expiresAt });
    return { ticket, expiresAt };
  }

  /** Returns the issuer's access if the ticket is for this sandbox. Invalidates the ticket either way. */
  async redeem(ticket: string, sandboxId: string): Promise<GrantedAccess | null> {
    const found = await this.#repository.take(hashOf(ticket), this.#clock.now().toISOString());
    return found?.sandboxId === sandboxId ? found.granted : null;
  }
}

function hashOf(ticket: string): string {
  return createHash('sha256').update(ticket).digest('hex');
}
