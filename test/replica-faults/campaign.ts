import { setTimeout as delay } from 'node:timers/promises';
import { randomSource } from '../sandbox-kills/random-source.ts';
import { audit, type Audited } from './audit.ts';
import { AgentLoad } from './agent-load.ts';
import type { Client } from './client.ts';
import { areApart, inflict, planFaults, type FaultName } from './faults.ts';
import { Journal } from './journal.ts';
import { useSandboxes } from './sandbox-load.ts';
import { Store, useStore } from './store-load.ts';
import { World } from './world.ts';

const STORE_CLIENTS = 3;
const SANDBOX_CLIENTS = 2;
const LONGEST_PAUSE_MS = 1_500;
/** Share of faults that come two at once, if they hit different parts. */
const PAIRED = 0.3;

export interface CampaignOptions {
  /** Folder of the data of all processes. */
  readonly folder: string;
  readonly seed: number;
}

/** Replicas that are hit by faults under load, and what their clients know. */
export class Campaign implements AsyncDisposable {
  readonly journal: Journal;
  readonly inflicted = new Map<FaultName, number>();
  readonly world: World;
  readonly agent: AgentLoad;
  readonly #store: Store;
  readonly #random: () => number;
  readonly #seed: number;
  #rounds = 0;

  private constructor(seed: number, journal: Journal, world: World, store: Store, agent: AgentLoad) {
    this.#seed = seed;
    this.journal = journal;
    this.world = world;
    this.#store = store;
    this.agent = agent;
    this.#random = randomSource(seed);
  }

  static async open({ folder, seed }: CampaignOptions): Promise<Campaign> {
    const journal = new Journal(seed);
    const world = await World.open({ folder, note: (event) => journal.note(event) });
    try {
      const [first] = world.replicas;
      if (first === undefined) throw new Error('there are no replicas');
      const store = await Store.create(first);
      const agent = await AgentLoad.start(world, folder, randomSource(seed + 1));
      return new Campaign(seed, journal, world, store, agent);
    } catch (error) {
      await world[Symbol.asyncDispose]();
      throw error;
    }
  }

  get faults(): number {
    return [...this.inflicted.values()].reduce((sum, count) => sum + count, 0);
  }

  get audited(): Audited {
    return { world: this.world, journal: this.journal, store: this.#store, agent: this.agent, random: this.#random };
  }

  /** A plan for so many faults. */
  plan(howMany: number): FaultName[] {
    return planFaults(howMany, this.#random);
  }

  /** Inflicts these faults under load, lets everything settle, and returns the findings of an audit. */
  async round(faults: readonly FaultName[], stop: AbortSignal): Promise<string[]> {
    await this.#underLoad(async () => {
      const left = [...faults];
      for (let name = left.shift(); name !== undefined && !stop.aborted; name = left.shift()) {
        const [other] = left;
        const together =
          other !== undefined && areApart(name, other) && this.#random() < PAIRED ? left.splice(0, 1) : [];
        await delay(this.#random() * LONGEST_PAUSE_MS);
        await Promise.all([name, ...together].map((each) => this.#inflict(each)));
      }
      await delay(this.#random() * LONGEST_PAUSE_MS);
    });
    return this.audit();
  }

  /** Runs the load for a moment without faults. */
  async rest(forMs: number): Promise<string[]> {
    await this.#underLoad(() => delay(forMs));
    return this.audit();
  }

  audit(restLimitMs?: number): Promise<string[]> {
    return audit(this.audited, restLimitMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.agent[Symbol.asyncDispose]();
    this.#store.close();
    await this.world[Symbol.asyncDispose]();
  }

  async #inflict(name: FaultName): Promise<void> {
    await inflict(name, this.world, this.agent, this.#random);
    this.inflicted.set(name, (this.inflicted.get(name) ?? 0) + 1);
  }

  async #underLoad(work: () => Promise<void>): Promise<void> {
    this.#rounds += 1;
    const enough = new AbortController();
    const { signal } = enough;
    const clients = [
      ...Array.from({ length: STORE_CLIENTS }, (_, index) =>
        useStore(this.#client(`store-${index}`), this.#store, signal),
      ),
      this.agent.use(this.#client('tunnel'), signal),
      ...Array.from({ length: SANDBOX_CLIENTS }, (_, index) => useSandboxes(this.#client(`boxes-${index}`), signal)),
    ];
    try {
      await Promise.race([work(), Promise.all(clients)]); // a client only ends before the work by an error
    } finally {
      enough.abort();
      await Promise.all(clients);
    }
  }

  #client(name: string): Client {
    const { journal, world } = this;
    const seed = [...name].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), this.#seed + this.#rounds);
    return { name, journal, world, random: randomSource(seed) };
  }
}
