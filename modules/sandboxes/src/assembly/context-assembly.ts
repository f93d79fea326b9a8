import { KeyedQueue } from '@svc/runtime';
import type { SandboxContext } from '../domain/context.ts';
import { Holder } from '../domain/holder.ts';
import { LiveSandboxes } from '../domain/live-sandboxes.ts';
import { DrainState } from '../domain/nodes/drain-state.ts';
import { Recovery } from '../domain/recovery.ts';
import { wake } from '../domain/pausing.ts';
import type { SandboxNodes } from '../domain/ports.ts';
import { SnapshotTakes } from '../domain/snapshots/snapshot-takes.ts';
import { StatusWatch } from '../domain/status-watch.ts';
import { Supervisor } from '../domain/supervisor.ts';
import { UnfinishedStops } from '../domain/unfinished-stops.ts';

type Given = Pick<
  SandboxContext,
  | 'repository'
  | 'driver'
  | 'drivers'
  | 'clusterChoice'
  | 'clock'
  | 'random'
  | 'quotaLimits'
  | 'node'
  | 'log'
  | 'disk'
  | 'places'
  | 'rules'
  | 'archives'
  | 'storage'
>;

/**
 * Builds the context that the domain's parts share, and the supervisor, which uses all of it and handles lost
 * sandboxes.
 */
export function createContext({ nodes, ...deps }: Given & { readonly nodes: SandboxNodes }): {
  context: SandboxContext;
  supervisor: Supervisor;
} {
  const { repository, log } = deps;
  const supervisor: Supervisor = new Supervisor(() => context);
  const touch = (id: string, atMs: number): void => {
    repository.touch(id, new Date(atMs).toISOString()).catch((error: unknown) => log.warn({ err: error }, 'touch'));
  };
  const nowMs = (): number => deps.clock.nowMs();
  const live: LiveSandboxes = new LiveSandboxes(
    (id) => supervisor.lost(id),
    touch,
    (id) => void wake(context, id),
    nowMs,
  );
  const holder = new Holder({ repository, live, node: deps.node, nodes, clock: deps.clock });
  const drain = new DrainState(deps.node);
  const recovery = new Recovery();
  const queue = new KeyedQueue();
  const takes = new SnapshotTakes();
  const stops = new UnfinishedStops({ ...deps, live, queue });
  const watch = new StatusWatch();
  const context: SandboxContext = { ...deps, live, holder, drain, recovery, watch, queue, takes, stops };
  return { context, supervisor };
}
