import { RecentResults, type Clock } from '@svc/runtime';
import { sandboxErrors } from '../errors.ts';
import { isSandboxId } from './identifiers.ts';
import type { LiveSandboxes } from './live-sandboxes.ts';
import type { SandboxNodes, SandboxRepository } from './ports.ts';
import type { Sandbox } from './sandbox.ts';

/** The kind of owned thing that a sandbox is, for requests that are forwarded to its node. */
export const SANDBOX = 'sandbox';

/** A load balancer's next choice may be the node; a node that is down takes longer. */
const RETRY_AFTER_SECONDS = { live: '1', down: '10' } as const;

/** Requests come in bursts. A node that is outdated refuses the request by name. */
const NODE_KEPT_MS = 500;
/** A sandbox may be restored elsewhere once its node has been silent for 25 s. */
const CONFIRMED_FOR_MS = 15_000;
const MAX_NODES = 10_000;

export interface HolderDeps {
  readonly repository: Pick<SandboxRepository, 'find'>;
  readonly live: Pick<LiveSandboxes, 'has'>;
  /** This node. */
  readonly node: string;
  readonly nodes: Pick<SandboxNodes, 'isLive'>;
  readonly clock: Pick<Clock, 'nowMs'>;
}

type Place = Pick<Sandbox, 'node' | 'workspaceUuid'>;

/**
 * The only place that decides whether this node may act on a sandbox: only the node that holds it has its processes and
 * its disk. Every other node would stop nothing, start a second one, or delete a record whose disk stays.
 */
export class Holder {
  readonly #deps: HolderDeps;
  readonly #found: RecentResults<Place | null>;
  #confirmedAtMs: number;

  constructor(deps: HolderDeps) {
    this.#deps = deps;
    const { clock } = deps;
    this.#confirmedAtMs = clock.nowMs();
    this.#found = new RecentResults({ maxAgeMs: NODE_KEPT_MS, maxEntries: MAX_NODES, nowMs: () => clock.nowMs() });
  }

  /** At this time, no sandbox of this node had been restored on another one without being removed here. */
  confirm(atMs: number): void {
    this.#confirmedAtMs = atMs;
  }

  /** Whether the node serves the sandbox. After a pause of the process, only the record tells. */
  #serves(id: string): boolean {
    const { live, clock } = this.#deps;
    return live.has(id) && clock.nowMs() - this.#confirmedAtMs < CONFIRMED_FOR_MS;
  }

  isHere({ node }: Pick<Sandbox, 'node'>): boolean {
    return node === this.#deps.node;
  }

  /** Finds the node of a sandbox of this workspace; null if there is none. */
  async findNode(id: string, workspaceUuid: string): Promise<string | null> {
    const { repository, node } = this.#deps;
    if (this.#serves(id)) return node; // the common case needs no query
    if (!isSandboxId(id)) return null;
    const sandbox = await this.#found.get(id, async () => placeOf(await repository.find(id)));
    if (sandbox === null) this.#found.forget(id);
    return sandbox?.workspaceUuid === workspaceUuid ? sandbox.node : null;
  }

  /** Throws SANDBOX_ELSEWHERE unless this node holds the sandbox. */
  async assertHere(sandbox: Pick<Sandbox, 'node'>): Promise<void> {
    if (this.isHere(sandbox)) return;
    const { node } = sandbox;
    const isLive = await this.#deps.nodes.isLive(node);
    const remedy = isLive
      ? 'its replica cannot be reached from this one; send the request there, or set internal.listen'
      : 'no replica serves that node now; start it again, or delete the sandbox';
    throw sandboxErrors.SANDBOX_ELSEWHERE({
      details: { node, node_is_live: isLive, remedy },
      headers: { 'retry-after': isLive ? RETRY_AFTER_SECONDS.live : RETRY_AFTER_SECONDS.down },
    });
  }

  /** Like `assertHere` by id. Passes an unknown sandbox and one of another workspace, which its caller reports. */
  async assertHereById(workspaceUuid: string, id: string): Promise<void> {
    const { repository } = this.#deps;
    if (this.#serves(id) || !isSandboxId(id)) return; // the common case needs no query
    const sandbox = await repository.find(id);
    if (sandbox?.workspaceUuid === workspaceUuid) await this.assertHere(sandbox);
  }
}

function placeOf(sandbox: Sandbox | null): Place | null {
  return sandbox === null ? null : { node: sandbox.node, workspaceUuid: sandbox.workspaceUuid };
}
