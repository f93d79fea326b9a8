import { Shares, type ShareOutcome } from '@svc/runtime';
import { groupedAddressKey, networkOfKey } from './address-key.ts';

/** Bounds of the shares of clients without credentials. */
export interface AddressSharesOptions {
  /** Maximum held at a time, by all clients together. */
  readonly capacity: number;
  /** Maximum per address, however much is free. Defaults to its share. */
  readonly perAddress?: number;
}

/** Shares of clients without credentials: each address has one, and so has the network around it. */
export class AddressShares {
  readonly #shares: Shares;

  constructor({ capacity, perAddress = capacity }: AddressSharesOptions) {
    this.#shares = new Shares({
      capacity,
      capacityPerKey: perAddress,
      groupOf: networkOfKey,
      holders: { key: 'address', group: 'network' },
    });
  }

  /** Takes one for a client address. */
  take(address: string): ShareOutcome {
    return this.#shares.take(groupedAddressKey(address));
  }

  /** Takes one for a proxy that stands for many clients, as long as any is free. */
  takeUnshared(): ShareOutcome {
    return this.#shares.takeUnshared();
  }
}
