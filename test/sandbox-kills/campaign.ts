import { setTimeout as delay } from 'node:timers/promises';
import { launchersIn, processes } from './machine.ts';
import { apiOf, type Api } from './api.ts';
import { audit, type Audited } from './audit.ts';
import type { Client } from './client.ts';
import { Journal } from './journal.ts';
import { workUntil } from './load.ts';
import { startPlatformProcess, type PlatformProcess } from './platform-process.ts';
import { randomSource } from './random-source.ts';
import { drawVictim, killOne, type Victim } from './victims.ts';

const CLIENTS = 5;
const MOST_KILLS_IN_ROUND = 6;
/** Between two kills. */
const MOST_OPERATIONS_BETWEEN = 20;
const LONGEST_PAUSE_MS = 3_000;
const LONGEST_MOMENT_MS = 120;
const LONGEST_START_MS = 2_000;

export interface CampaignOptions {
  readonly dataFolder: string;
  readonly configFile: string;
  readonly seed: number;
  /** Images in the configuration, each prepared on first use. */
  readonly furtherImages: readonly string[];
}

/** A platform that is killed under load, and what its clients know. */
export class Campaign implements AsyncDisposable {
  readonly journal: Journal;
  readonly kills = new Map<Victim, number>();
  readonly #options: CampaignOptions;
  readonly #random: () => number;
  readonly #clients: Omit<Client, 'api'>[];
  #platform: PlatformProcess | null = null;
  #api: Api | null = null;
  #runFolder = '';

  constructor(options: CampaignOptions) {
    this.#options = options;
    this.#random = randomSource(options.seed);
    this.journal = new Journal(options.seed, options.furtherImages);
    const { journal } = this;
    this.#clients = Array.from({ length: CLIENTS }, (_, index) => {
      const random = randomSource(options.seed + 1 + index);
      return { name: `client-${index}`, journal, random, sandboxes: [], snapshots: [], volumes: [], templates: [] };
    });
  }

  get killed(): number {
    return [...this.kills.values()].reduce((sum, count) => sum + count, 0);
  }

  get runFolder(): string {
    return this.#runFolder;
  }

  get log(): string {
    return this.#platform?.log() ?? '';
  }

  /** Runs load with up to `mostKills` kills, lets it settle, and returns the findings of an audit. */
  async round(mostKills: number, stop: AbortSignal): Promise<string[]> {
    const api = await this.#running();
    const enough = new AbortController();
    const signal = AbortSignal.any([enough.signal, stop]);
    const work = Promise.all(this.#clients.map((client) => workUntil({ ...client, api }, signal)));
    const limit = this.killed + mostKills;
    const wanted = Math.min(mostKills, 1 + Math.floor(this.#random() * MOST_KILLS_IN_ROUND));
    for (let done = 0; done < wanted && !stop.aborted && this.#platform !== null; done += 1) {
      await this.#someWork(stop); // randomizes the moment of the kill
      await this.#kill(drawVictim(this.#random));
    }
    enough.abort();
    await work;
    if (stop.aborted) return [];
    await this.#maybeKillStart(limit);
    return this.audit();
  }

  async audit(): Promise<string[]> {
    return audit(await this.audited());
  }

  /** Resolves once the platform runs. */
  async audited(): Promise<Audited> {
    const api = await this.#running();
    const { dataFolder } = this.#options;
    const platformPid = this.#platform?.pid ?? -1;
    return { api, journal: this.journal, platformPid, dataFolder, runFolder: this.#runFolder };
  }

  /** Sends SIGTERM to the platform, which must end by itself. */
  async stopPlatform(): Promise<boolean> {
    const platform = this.#platform;
    this.#platform = null;
    return platform === null || (await platform.stop());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#platform?.kill();
  }

  /** Waits until some operations are answered, even on a busy machine, and then partway into the next one. */
  async #someWork(stop: AbortSignal): Promise<void> {
    const { journal } = this;
    const enough = journal.answeredTotal + Math.floor(this.#random() * MOST_OPERATIONS_BETWEEN);
    const deadline = performance.now() + LONGEST_PAUSE_MS;
    while (journal.answeredTotal < enough && performance.now() < deadline && !stop.aborted) await delay(5);
    await delay(this.#random() * LONGEST_MOMENT_MS);
  }

  async #kill(victim: Victim): Promise<void> {
    if (victim === 'platform') {
      // A surviving launcher finishes its work; if both are killed, nothing does.
      if (this.#random() < 0.5) await this.#kill('launcher');
      const platform = this.#platform;
      this.#platform = null;
      this.journal.note(`platform ${platform?.pid} is killed`);
      await platform?.kill();
    } else if (!killOne(victim, { journal: this.journal, runFolder: this.#runFolder, random: this.#random })) return;
    this.kills.set(victim, (this.kills.get(victim) ?? 0) + 1);
  }

  /** Sometimes kills the restarted platform during its start, too. */
  async #maybeKillStart(limit: number): Promise<void> {
    if (this.#platform !== null || this.killed >= limit || this.#random() > 0.2) return;
    this.#platform = startPlatformProcess(this.#options.dataFolder, this.#options.configFile);
    await delay(this.#random() * LONGEST_START_MS);
    await this.#kill('platform');
  }

  async #running(): Promise<Api> {
    if (this.#platform !== null && this.#api !== null) return this.#api;
    const platform = startPlatformProcess(this.#options.dataFolder, this.#options.configFile);
    this.#platform = platform;
    this.#api = apiOf(await platform.ready);
    const launcher = processes().find(
      ({ parentPid, command }) => parentPid === platform.pid && command.includes(' --run '),
    );
    if (launcher === undefined)
      throw new Error(`the platform has no launcher; it said:\n${platform.log().slice(-4_000)}`);
    this.#runFolder = launcher.command.split(' --run ')[1] ?? '';
    if (launchersIn([launcher], this.#runFolder).length === 0) throw new Error(`no run folder in ${launcher.command}`);
    return this.#api;
  }
}
