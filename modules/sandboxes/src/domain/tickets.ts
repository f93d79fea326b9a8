import { createHash } from 'node:crypto';
import type { GrantedAccess } from '@svc/http';
import type { Effects, TicketRepository } from './ports.ts';

const LIFETIME_MS = 30_000;
const PREFIX = 'svc_tkt_';

export interface IssuedTicket {
  readonly ticket: string;
  readonly expiresAt: string;
}

/** One-use tickets that stand in the address of a terminal, for browsers. Kept hashed. */
export class Tickets {
  readonly #repository: TicketRepository;
  readonly #effects: Effects;

  constructor(repository: TicketRepository, effects: Effects) {
    this.#repository = repository;
    this.#effects = effects;
  }

  /** `notAfter`: when the credential expires that makes it (ISO 8601, UTC), or null. */
  async issue(sandboxId: string, granted: GrantedAccess, notAfter: string | null): Promise<IssuedTicket> {
    const ticket = `${PREFIX}${this.#effects.randomBytes(32).toString('base64url')}`;
    const usual = new Date(this.#effects.now().getTime() + LIFETIME_MS).toISOString();
    const expiresAt = notAfter !== null && notAfter < usual ? notAfter : usual;
    await this.#repository.insert({ hash: hashOf(ticket), sandboxId, granted, expiresAt });
    return { ticket, expiresAt };
  }

  /** What its maker was granted, if it is for this sandbox; it is worth nothing afterwards, whatever the answer. */
  async redeem(ticket: string, sandboxId: string): Promise<GrantedAccess | null> {
    const found = await this.#repository.take(hashOf(ticket), this.#effects.now().toISOString());
    return found?.sandboxId === sandboxId ? found.granted : null;
  }
}

function hashOf(ticket: string): string {
  return createHash('sha256').update(ticket).digest('hex');
}
