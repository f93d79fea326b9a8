import { setTimeout as delay } from 'node:timers/promises';
import type { Kubectl } from '../kubernetes/kubectl.ts';
import { answered, apiOf, readRecords, type Api } from '../sandbox-kills/api.ts';
import { pick, type Client } from '../sandbox-kills/client.ts';
import { Journal } from '../sandbox-kills/journal.ts';
import { workUntil } from '../sandbox-kills/load.ts';
import { startPlatformProcess, type PlatformProcess } from '../sandbox-kills/platform-process.ts';
import { draw, randomSource } from '../sandbox-kills/random-source.ts';
import { audit, type Audited } from './pod-audit.ts';
import { isBridge, isHelper, podProcesses, podsIn, type PodProcess } from './pods.ts';

const CLIENTS = 3;
const MOST_KILLS_IN_ROUND = 4;
/** Between two kills. */
const MOST_OPERATIONS_BETWEEN = 10;
const LONGEST_PAUSE_MS = 5_000;
const LONGEST_MOMENT_MS = 400;
const LONGEST_START_MS = 3_000;

/** `pod`: deleted through the API. `container`: its first process is killed. `bridge`: the platform's way to the helper. */
export type Victim = 'platform' | 'pod' | 'container' | 'bridge';

const SHARES: readonly { readonly share: number; readonly victim: Victim }[] = [
  { share: 45, victim: 'platform' },
  { share: 20, victim: 'pod' },
  { share: 20, victim: 'container' },
  { share: 15, victim: 'bridge' },
];

export interface PodCampaignOptions {
  readonly kubectl: Kubectl;
  readonly namespace: string;
  readonly dataFolder: string;
  readonly configFile: string;
  readonly seed: number;
}

/** A platform with sandboxes as pods, killed under load together with pods, and what its clients know. */
export class PodCampaign implements AsyncDisposable {
  readonly journal: Journal;
  readonly kills = new Map<Victim, number>();
  readonly #options: PodCampaignOptions;
  readonly #random: () => number;
  readonly #clients: Omit<Client, 'api'>[];
  readonly #lost = new Set<string>();
  #platform: PlatformProcess | null = null;
  #api: Api | null = null;

  constructor(options: PodCampaignOptions) {
    this.#options = options;
    this.#random = randomSource(options.seed);
    this.journal = new Journal(options.seed, []);
    const { journal } = this;
    this.#clients = Array.from({ length: CLIENTS }, (_, index) => ({
      name: `client-${index}`,
      journal,
      random: randomSource(options.seed + 1 + index),
      sandboxes: [],
      snapshots: [],
      volumes: [],
      templates: [],
      lacks: new Set(['egress_allow', 'templates', 'volumes'] as const),
    }));
  }

  get killed(): number {
    return [...this.kills.values()].reduce((sum, count) => sum + count, 0);
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
      await this.#kill(draw(this.#random, SHARES).victim);
    }
    enough.abort();
    await work;
    if (this.#platform === null && this.killed < limit && this.#random() < 0.2) await this.#killStart();
    const findings = await this.audit();
    if (findings.length === 0) await this.#bury();
    return findings;
  }

  async audit(): Promise<string[]> {
    return audit(await this.audited());
  }

  /** Resolves once the platform runs. */
  async audited(): Promise<Audited> {
    const { kubectl, namespace, dataFolder } = this.#options;
    return { api: await this.#running(), kubectl, journal: this.journal, namespace, dataFolder, lost: this.#lost };
  }

  /** Starts every sandbox so that all files can be read, then deletes everything and stops the platform. */
  async finish(): Promise<string[]> {
    const { api } = await this.audited();
    const { journal } = this;
    for (const sandbox of journal.sandboxes) {
      if (sandbox.existence === 'gone') continue; // buried, which the next audit checks
      await answered(api('POST', `/api/containers/${sandbox.id}/start?wait_ms=30000`));
      sandbox.states = new Set(['running']);
    }
    const findings = await this.audit();
    const { sandboxes, snapshots } = await readRecords(api);
    for (const { id } of sandboxes) await answered(api('DELETE', `/api/containers/${id}`));
    for (const { id } of snapshots) await answered(api('DELETE', `/api/snapshots/${id}`));
    for (const known of [...journal.sandboxes, ...journal.snapshots]) known.existence = 'gone';
    findings.push(...(await this.audit()));
    const platform = this.#platform;
    this.#platform = null;
    if ((await platform?.stop()) !== true) findings.push('the platform did not end by itself');
    const { kubectl, namespace } = this.#options;
    const left = await podsIn(kubectl, namespace);
    return [...findings, ...left.map(({ name }) => `pod ${name} is left over at the end`)];
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
      const platform = this.#platform;
      this.#platform = null;
      this.journal.note(`platform ${platform?.pid} is killed`);
      await platform?.kill();
    } else if (!(await this.#killInCluster(victim))) return;
    this.kills.set(victim, (this.kills.get(victim) ?? 0) + 1);
  }

  /** Returns false if there is none at the moment. */
  async #killInCluster(victim: Exclude<Victim, 'platform'>): Promise<boolean> {
    const { kubectl, namespace } = this.#options;
    const pods = (await podsIn(kubectl, namespace)).filter(({ sandboxId }) => sandboxId !== null);
    if (victim === 'pod') {
      const pod = pick(this.#random, pods);
      if (pod === undefined) return false;
      this.#willEnd(victim, pod.sandboxId ?? '', pod.name);
      this.#lost.add(pod.sandboxId ?? '');
      await kubectl('-n', namespace, 'delete', 'pod', pod.name, '--wait=false', '--ignore-not-found');
      return true;
    }
    const wanted = victim === 'container' ? isHelper : isBridge;
    const uids = new Map(pods.map((pod) => [pod.uid, pod]));
    const found = pick(
      this.#random,
      podProcesses().filter((each) => wanted(each) && uids.has(each.podUid)),
    );
    const sandboxId = uids.get(found?.podUid ?? '')?.sandboxId ?? null;
    if (found === undefined || sandboxId === null) return false;
    this.#willEnd(victim, sandboxId, `process ${found.pid}`);
    if (victim === 'container') this.#lost.add(sandboxId);
    return kill(found);
  }

  #willEnd(victim: Victim, sandboxId: string, what: string): void {
    this.journal.willKill(sandboxId); // a client may be waiting for it
    this.journal.note(`${victim} of ${sandboxId} is killed: ${what}`);
  }

  /** Kills the restarted platform during its start, too. */
  async #killStart(): Promise<void> {
    this.#platform = startPlatformProcess(this.#options.dataFolder, this.#options.configFile);
    await delay(this.#random() * LONGEST_START_MS);
    await this.#kill('platform');
  }

  /** Deletes the sandboxes whose files are gone: nothing else can be done with them. */
  async #bury(): Promise<void> {
    const api = await this.#running();
    for (const client of this.#clients) {
      for (const sandbox of client.sandboxes) {
        if (sandbox.id === null || sandbox.existence !== 'there' || !this.#lost.has(sandbox.id)) continue;
        await answered(api('DELETE', `/api/containers/${sandbox.id}`));
        sandbox.existence = 'gone';
      }
    }
  }

  async #running(): Promise<Api> {
    if (this.#platform !== null && this.#api !== null) return this.#api;
    const platform = startPlatformProcess(this.#options.dataFolder, this.#options.configFile);
    this.#platform = platform;
    this.#api = apiOf(await platform.ready);
    return this.#api;
  }
}

function kill({ pid }: PodProcess): boolean {
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch {
    return false; // it has just ended
  }
}
