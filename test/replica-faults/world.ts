import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startCuttableProxy, waitFor, type CuttableProxy } from '@svc/testing';
import { startEngine, type Engine } from '../replicas/engine.ts';
import { clockAhead } from '../replicas/replicas.ts';
import { launchersIn, processes } from '../sandbox-kills/machine.ts';
import { namesIn, textOf } from '../sandbox-kills/ground.ts';
import { startPlatform, type ReadyLine, type RunningPlatform } from '../system/running-platform.ts';
import { DatabasePair } from './database-pair.ts';

/** The clock of the last replica is ahead of the others by this. */
const CLOCK_AHEAD_SECONDS = 30;
const REPLICAS = 3;
const STARTS = 5;
const WAIT_MS = 90_000;
const RESOURCES = { cpu: 0.5, memory_mb: 64, disk_mb: 64, pids: 32 };
const UNLIMITED = { sandbox_cpus: 'unlimited', sandbox_memory: 'unlimited', sandbox_disk: 'unlimited' };

/** Nothing but the faults refuses a request. */
const CONFIGURATION = {
  services: ['clusters', 'object-store', 'sandboxes'],
  quotas: { workspace: UNLIMITED, owner: UNLIMITED },
  sandboxes: {
    image_registry: '',
    resources: RESOURCES,
    max_per_caller: 10_000,
    max_creates_per_minute: 1_000_000,
    max_terminals_per_minute: 1_000_000,
    prepared_starts: 0,
  },
};

/** A replica: a process, its data folder, and its own links to the two database servers. */
export interface Replica {
  readonly name: string;
  readonly dataFolder: string;
  readonly links: readonly [CuttableProxy, CuttableProxy];
  readonly environment: Readonly<Record<string, string>>;
  /** Null while a fault has ended it. */
  platform: RunningPlatform | null;
  /** What clients know, also of a replica that is not there. */
  ready: ReadyLine | null;
  /** Its id as a node; empty before the first start. */
  nodeId: string;
  /** Folder of the sockets of its sandboxes; `none` before the first start. */
  runFolder: string;
  /** Output of former processes, the last of it. */
  formerLog: string;
}

export interface WorldOptions {
  readonly folder: string;
  readonly note: (event: string) => void;
}

/** Replicas on a pair of database servers and an S3 engine, all of which can be killed. */
export class World implements AsyncDisposable {
  readonly replicas: readonly Replica[];
  readonly database: DatabasePair;
  readonly engine: Engine;
  readonly note: (event: string) => void;
  /** Starts that failed and were repeated, as a service manager does. */
  repeatedStarts = 0;
  readonly #folder: string;

  private constructor(options: WorldOptions, parts: Pick<World, 'replicas' | 'database' | 'engine'>) {
    this.replicas = parts.replicas;
    this.database = parts.database;
    this.engine = parts.engine;
    this.note = options.note;
    this.#folder = options.folder;
  }

  static async open(options: WorldOptions): Promise<World> {
    const { folder } = options;
    await writeFile(join(folder, 'svc.yaml'), JSON.stringify(CONFIGURATION)); // JSON is YAML
    const database = await DatabasePair.start(folder);
    const engine = await startEngine();
    const replicas: Replica[] = [];
    for (let index = 0; index < REPLICAS; index += 1)
      replicas.push(await createReplica(folder, index, database, engine));
    const world = new World(options, { replicas, database, engine });
    try {
      for (const replica of replicas) await world.start(replica);
      return world;
    } catch (error) {
      await world[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Replicas that no fault has ended. */
  get running(): readonly Replica[] {
    return this.replicas.filter(({ platform }) => platform !== null);
  }

  /** Replicas that ended although no fault did that. */
  get ended(): readonly Replica[] {
    return this.running.filter(({ platform }) => platform !== null && !isAlive(platform.ready.pid));
  }

  async start(replica: Replica): Promise<void> {
    for (let left = STARTS; replica.platform === null; left -= 1) {
      try {
        replica.platform = await startPlatform({
          dataFolder: replica.dataFolder,
          flags: ['--config', join(this.#folder, 'svc.yaml')],
          environment: replica.environment,
        });
      } catch (error) {
        if (left === 1) throw error;
        this.repeatedStarts += 1;
        this.note(`${replica.name} did not start: ${String(error).slice(-600)}`);
      }
    }
    replica.ready = replica.platform.ready;
    replica.nodeId = textOf(join(replica.dataFolder, 'replica-id')).trim();
    const { pid } = replica.ready;
    const launcher = processes().find(({ parentPid, command }) => parentPid === pid && command.includes(' --run '));
    replica.runFolder = launcher?.command.split(' --run ')[1] ?? replica.runFolder;
  }

  async kill(replica: Replica): Promise<void> {
    const { platform } = replica;
    replica.platform = null;
    await platform?.kill();
    this.#keepLog(replica, platform);
  }

  /** Returns whether it ended by itself with exit code 0. */
  async stop(replica: Replica): Promise<boolean> {
    const { platform } = replica;
    replica.platform = null;
    const exitCode = await platform?.stop();
    this.#keepLog(replica, platform);
    return exitCode === 0;
  }

  /** Ends a replica with everything that runs on its machine, and takes its data folder away. */
  async loseNode(replica: Replica): Promise<void> {
    await this.kill(replica);
    const ids = new Set(namesIn(join(replica.runFolder, 'sandboxes')));
    const all = processes();
    const launchers = launchersIn(all, replica.runFolder);
    const inside = all.filter(({ sandboxId }) => sandboxId !== null && ids.has(sandboxId));
    for (const { pid } of [...launchers, ...inside]) endProcess(pid);
    await rename(replica.dataFolder, `${replica.dataFolder}-away`);
  }

  async returnNode(replica: Replica): Promise<void> {
    await rename(`${replica.dataFolder}-away`, replica.dataFolder);
    await this.start(replica);
  }

  /** Resolves when every replica says that it is ready. */
  async untilReady(): Promise<void> {
    for (const replica of this.running) {
      await waitFor(() => isReady(replica), {
        timeoutMs: WAIT_MS,
        intervalMs: 100,
        description: `${replica.name} to be ready`,
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const replica of this.replicas) {
      if (replica.platform !== null && isAlive(replica.platform.ready.pid))
        process.kill(replica.platform.ready.pid, 'SIGCONT');
      await this.kill(replica);
      for (const link of replica.links) await link[Symbol.asyncDispose]();
    }
    await this.engine[Symbol.asyncDispose]();
    await this.database[Symbol.asyncDispose]();
  }

  #keepLog(replica: Replica, platform: RunningPlatform | null): void {
    replica.formerLog = (replica.formerLog + (platform?.log() ?? '')).slice(-LOG_LIMIT);
  }
}

const LOG_LIMIT = 1024 * 1024;

/** Warnings and errors of a replica, the newest last. */
export function complaintsOf({ formerLog, platform }: Replica): string[] {
  const lines = `${formerLog}${platform?.log() ?? ''}`.split('\n');
  return lines.filter((line) => line !== '' && !line.includes('"level":"info"'));
}

async function createReplica(folder: string, index: number, database: DatabasePair, engine: Engine): Promise<Replica> {
  const name = ['first', 'second', 'third'][index] ?? `replica-${index}`;
  const links = [await linkTo(database, 0), await linkTo(database, 1)] as const;
  const url = new URL(database.url);
  url.host = `127.0.0.1:${links[0].port}`;
  const dataFolder = join(folder, name);
  await mkdir(dataFolder, { mode: 0o700 });
  const several = url.href.replace(url.host, `${url.host},127.0.0.1:${links[1].port}`);
  return {
    name,
    dataFolder,
    links,
    environment: {
      ...engine.environment,
      SVC_DATABASE_URL: `${several}?target_session_attrs=read-write`,
      SVC_MASTER_KEY: MASTER_KEY,
      SVC_SHUTDOWN_LAME_DUCK_SECONDS: '1',
      SVC_LOG_LEVEL: 'warn',
      ...(index === REPLICAS - 1 ? clockAhead(CLOCK_AHEAD_SECONDS) : {}),
    },
    platform: null,
    ready: null,
    nodeId: '',
    runFolder: 'none',
    formerLog: '',
  };
}

/** Any key; the databases of a run end with it. */
const MASTER_KEY = '7'.repeat(64);

function linkTo({ places }: DatabasePair, place: 0 | 1): Promise<CuttableProxy> {
  return startCuttableProxy({
    host: '127.0.0.1',
    get port() {
      return places[place].port;
    },
  });
}

async function isReady({ platform }: Replica): Promise<boolean> {
  if (platform === null) return false;
  const response = await fetch(`${platform.ready.url}/readyz`, { signal: AbortSignal.timeout(5_000) });
  await response.arrayBuffer();
  return response.ok;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false; // there is no such process
  }
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended with another one.
  }
}
