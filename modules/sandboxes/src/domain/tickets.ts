import { createHash } from 'node:crypto';
import type { Effects, TicketCaller, TicketRepository } from './ports.ts';

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

  async issue(sandboxId: string, caller: TicketCaller): Promise<IssuedTicket> {
    const ticket = `${PREFIX}${this.#effects.randomBytes(32).toString('base64url')}`;
    const expiresAt = new Date(this.#effects.now().getTime() + LIFETIME_MS).toISOString();
    await this.#repository.insert({ hash: hashOf(ticket), sandboxId, caller, expiresAt });
    return { ticket, expiresAt };
  }

  /** Who made it, if it is good for this sandbox; it is worth nothing afterwards, whatever the answer. */
  async redeem(ticket: string, sandboxId: string): Promise<TicketCaller | null> {
    const found = await this.#repository.take(hashOf(ticket), this.#effects.now().toISOString());
    return found?.sandboxId === sandboxId ? found.caller : null;
  }
}

function hashOf(ticket: string): string {
  return createHash('sha256').update(ticket).digest('hex');
}
