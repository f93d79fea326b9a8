import { statfs } from 'node:fs/promises';
import { availableParallelism, freemem, totalmem } from 'node:os';
import { EventWorker, type Database, type DatabaseEvents } from '@svc/sql';
import type { SandboxesConfig } from '../config.ts';
import { LostNodes } from '../domain/lost-nodes.ts';
import { NodeAdministration } from '../domain/nodes/node-administration.ts';
import { NodeDrainer, type NodeDrainerDeps } from '../domain/nodes/node-drainer.ts';
import { NodeReporter } from '../domain/nodes/node-reporter.ts';
import type { MachineRoom } from '../domain/nodes/sandbox-node.ts';
import { SandboxRestorer, type SandboxRestorerDeps } from '../domain/nodes/sandbox-restorer.ts';
import type { SandboxNodes } from '../domain/ports.ts';
import type { TerminalPlaces } from '../domain/terminal/terminal-places.ts';
import { NODE_CHANNEL } from '../store/channels.ts';
import { createNodeRepository, type NodeRepositoryOptions } from '../store/node-repository.ts';
import { createSandboxMoves } from '../store/sandbox-moves.ts';
import type { SandboxTables } from '../store/tables.ts';

/** This node among those of the installation: its reports, and its drain. */
export interface NodePart {
  /** Reports this node, and reads whether it is drained. Call it before the node can take sandboxes. */
  join(events: DatabaseEvents): Promise<void>;
  /** Continues a drain, now and whenever one is requested. Needs a driver that is open. */
  start(): void;
  close(): Promise<void>;
}

export interface NodePartDeps extends Omit<NodeDrainerDeps, 'nodes' | 'noticeMs'> {
  readonly database: Database<SandboxTables>;
  readonly config: SandboxesConfig;
  readonly dataFolder: string;
}

export function createNodePart({ database, config, dataFolder, ...deps }: NodePartDeps): NodePart {
  const { context } = deps;
  const nodes = createNodeRepository(database);
  const drainer = new NodeDrainer({ ...deps, nodes, noticeMs: config.drain_notice_seconds * 1000 });
  const readRoom = (): Promise<MachineRoom> => measureRoom(dataFolder);
  const reporter = new NodeReporter({ context, nodes, maxRunning: config.max_running, readRoom });
  let worker: EventWorker | null = null;
  return {
    async join(events) {
      await reporter.report();
      await drainer.refresh();
      worker = new EventWorker({
        events,
        channel: NODE_CHANNEL,
        work: (node) => (node === context.node ? changed(drainer) : Promise.resolve()),
        workOnAll: () => changed(drainer),
        onError: (err) => context.log.error({ err }, 'whether this node is drained could not be read'),
      });
    },
    start() {
      reporter.start();
      drainer.start();
    },
    async close() {
      await worker?.close();
      await reporter.close();
      await drainer.close();
    },
  };
}

/** Takes effect on the next create at once; stopping sandboxes may wait for a run that is under way. */
async function changed(drainer: NodeDrainer): Promise<void> {
  await drainer.refresh();
  drainer.wake();
}

async function measureRoom(dataFolder: string): Promise<MachineRoom> {
  const { bavail, bsize } = await statfs(dataFolder);
  return {
    cpus: availableParallelism(),
    memoryBytes: totalmem(),
    freeMemoryBytes: freemem(),
    freeDiskBytes: bavail * bsize,
  };
}

/** What operators do with the nodes of a database; needs no sandboxes in this process. */
export function createNodeAdministration(
  database: Database<unknown>,
  options: NodeRepositoryOptions = {},
): NodeAdministration {
  return new NodeAdministration(createNodeRepository(database, options));
}

/** What continues sandboxes when their nodes are lost or drained. */
export function createContinuing(
  { nodes }: { readonly nodes: SandboxNodes },
  database: Database<SandboxTables>,
  context: SandboxRestorerDeps['context'],
  { service, boots }: Pick<SandboxRestorerDeps, 'service' | 'boots'>,
  terminals: TerminalPlaces,
): { restorer: SandboxRestorer; lostNodes: LostNodes } {
  const moves = createSandboxMoves(database, context);
  const restorer = new SandboxRestorer({ context, moves, service, boots });
  return { restorer, lostNodes: new LostNodes({ context, nodes, terminals, moves, restorer }) };
}
