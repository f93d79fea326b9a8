import type { SandboxSpec } from './driver.ts';
import type { Boots } from './boots.ts';
import type { SandboxContext } from './context.ts';
import { hostnameOf } from './identifiers.ts';
import type { CreateRequest } from './create-request.ts';
import type { Sandbox } from './sandbox.ts';
import type { WarmPool } from './warm-pool.ts';
import type { WarmSandbox } from './image-pool.ts';

/** A draft record on a warm sandbox if one fits, else on a prepared start if there is one. */
export interface WarmClaim {
  readonly sandbox: Sandbox;
  readonly warm: WarmSandbox | null;
  readonly isPrepared: boolean;
}

/** Assigns warm sandboxes to create requests. The sandbox keeps the id it was started with. */
export class WarmClaims {
  readonly #context: SandboxContext;
  readonly #boots: Boots;
  readonly #pool: WarmPool;
  readonly #abandoned = new Set<string>();

  constructor(context: SandboxContext, boots: Boots, pool: WarmPool) {
    this.#context = context;
    this.#boots = boots;
    this.#pool = pool;
  }

  /** An exact match is inserted as running, which saves an update. */
  claim(request: CreateRequest, draft: Sandbox): WarmClaim {
    if (request.snapshotId !== null || request.cluster !== null)
      return { sandbox: draft, warm: null, isPrepared: false };
    // Its trust store is set up before it runs, its volumes are mounted then, or its files are not those of the image.
    const { egressRules, volumes, mounts, template } = request;
    const isPlain = egressRules.length === 0 && volumes.length === 0 && mounts.length === 0 && template === null;
    if (!isPlain) return this.#claimPrepared(request, draft);
    const hostname = request.name === null ? null : hostnameOf(request.name);
    const warm = this.#pool.take({ ...specPartOf(request), hostname });
    if (warm === null) return this.#claimPrepared(request, draft);
    const sandbox = { ...draft, id: warm.spec.id, name: request.name ?? warm.name };
    if (!this.#pool.isFit(warm, { ...warm.spec, ...specPartOf(request), hostname: hostnameOf(sandbox.name) })) {
      return { sandbox, warm, isPrepared: false };
    }
    const running = { ...sandbox, status: 'running', startedAt: draft.createdAt } as const;
    return { sandbox: running, warm, isPrepared: false };
  }

  #claimPrepared(request: CreateRequest, draft: Sandbox): WarmClaim {
    const id = this.#context.driver.preparedStarts?.take(specPartOf(request)) ?? null;
    return { sandbox: id === null ? draft : { ...draft, id }, warm: null, isPrepared: id !== null };
  }

  /** Returns the sandbox unchanged after the record was refused. */
  release({ sandbox, warm, isPrepared }: WarmClaim): void {
    if (warm !== null) this.#pool.release(warm);
    if (isPrepared) this.#context.driver.preparedStarts?.release(sandbox.id);
  }

  /**
   * Gives up the sandbox after an error: its record may exist all the same, because the answer to a commit can be lost.
   * It is never used for another record.
   */
  abandon({ sandbox, warm, isPrepared }: WarmClaim): void {
    if (warm === null && !isPrepared) return;
    this.#abandoned.add(sandbox.id);
    void warm?.connection.close();
  }

  /** Removes what was given up, unless it has a record, which the sweep takes up. */
  async sweep(): Promise<void> {
    const { repository, queue, driver } = this.#context;
    for (const id of this.#abandoned) {
      if ((await repository.find(id)) === null) await queue.run(id, () => driver.remove(id));
      this.#abandoned.delete(id);
    }
  }

  /** Takes over the sandbox once its record exists: adopts a running one, boots the rest. */
  begin({ sandbox, warm }: WarmClaim): void {
    if (warm === null || sandbox.status !== 'running') {
      this.#boots.begin(sandbox, warm?.connection ?? null);
      return;
    }
    this.#context.live.adopt(sandbox, warm.connection, Date.parse(sandbox.lastActivityAt));
    this.#context.watch.announce(sandbox.id, sandbox);
  }
}

/**
 * The part of a request that the driver receives. A new request field is included, and prevents use of warm sandboxes,
 * until it is excluded here.
 */
function specPartOf(request: CreateRequest): Omit<SandboxSpec, 'id' | 'hostname'> {
  const {
    workspaceUuid: _workspace,
    maker: _maker,
    name: _name,
    environment: _environment,
    egressRules: _rules,
    labels: _labels,
    idleTimeoutSeconds: _idle,
    maxLifetimeSeconds: _lifetime,
    expiresAt: _end,
    onDrain: _drain,
    onNodeLost: _lost,
    onExpiry: _action,
    resumeSeconds: _resume,
    requestHost: _requestHost,
    snapshotId: _snapshot,
    template: _template,
    volumes: _volumes,
    mounts: _mounts,
    cluster: _cluster,
    limit: _limit,
    idempotencyKey: _key,
    ...spec
  } = request;
  return spec;
}
