import { AddressShares, groupedAddressKey, networkOfKey } from '@svc/addresses';
import { FairSlots, Shares, type ShareRefusal } from '@svc/runtime';
import { accountErrors } from '../../errors.ts';

/** Who has a password hashed. */
export interface HashingClient {
  readonly remoteAddress: string;
  /** The account that the password belongs to, or is tried for. */
  readonly account: string;
}

const PLATFORM = 'platform';

/**
 * Runs `slots` tasks at once and queues up to `waiting` more; others are refused with BUSY. Hashing a password takes
 * tens of MiB and a core, so an unbounded burst of sign-ins would exhaust the machine. Networks take turns, and so do
 * the addresses of each. Addresses, networks and accounts have shares of the places, so that none of them can keep
 * everybody else from signing in.
 */
export class HashingQueue {
  readonly #slots: FairSlots;
  readonly #byAddress: AddressShares;
  readonly #byAccount: Shares;

  constructor(slots: number, waiting: number) {
    const capacity = slots + waiting;
    this.#slots = new FairSlots({
      capacity: slots,
      maxWaiting: waiting,
      groupOf: networkOfKey,
      refuse: () => busy({ holder: 'replica', held: capacity, limit: capacity }),
    });
    this.#byAddress = new AddressShares({ capacity });
    this.#byAccount = new Shares({ capacity, holders: { key: 'account', group: 'account' } });
  }

  /** Runs the task for the client, or for the platform itself if that is null. */
  async run<Result>(client: HashingClient | null, task: () => Promise<Result>): Promise<Result> {
    const leave = this.#enter(client);
    try {
      return await this.#slots.run(client === null ? PLATFORM : groupedAddressKey(client.remoteAddress), task);
    } finally {
      leave();
    }
  }

  #enter(client: HashingClient | null): () => void {
    if (client === null) return () => undefined; // an operator's command, or the start
    const address = this.#byAddress.take(client.remoteAddress);
    if (address.refusal !== null) throw busy(address.refusal);
    const account = this.#byAccount.take(client.account);
    if (account.refusal !== null) {
      address.release();
      throw busy(account.refusal);
    }
    return () => {
      address.release();
      account.release();
    };
  }
}

function busy(refusal: ShareRefusal): Error {
  return accountErrors.BUSY({ details: { ...refusal }, headers: { 'retry-after': '1' } });
}
