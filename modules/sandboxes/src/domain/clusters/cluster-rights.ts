import { accessErrors, type Access, type HeldRights } from '@svc/access';
import type { Clock } from '@svc/runtime';
import type { Logger } from '@svc/telemetry';
import type { Sandbox } from '../sandbox.ts';
import type { ClusterDrivers, DrivenSandbox } from './cluster-drivers.ts';
import { RUN_IN_CLUSTER } from './sandbox-cluster.ts';

export interface ClusterRightsDeps {
  readonly access: Pick<Access, 'allowedActions'>;
  readonly rights: HeldRights;
  readonly drivers: Pick<ClusterDrivers, 'known'>;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Stops a sandbox whose creator has lost the right to its cluster. */
  readonly stop: (sandbox: DrivenSandbox) => Promise<unknown>;
  readonly log: Logger;
}

/** Why a sandbox was stopped. */
export const RIGHT_REVOKED = 'CLUSTER_RIGHT_REVOKED';

/** Whether the creator of the sandbox may still run sandboxes in its cluster. */
export async function mayRunInCluster(
  access: Pick<Access, 'allowedActions'>,
  { workspaceUuid, cluster }: Pick<Sandbox, 'workspaceUuid' | 'cluster'>,
): Promise<boolean> {
  if (cluster === null) return true;
  const { maker } = cluster;
  const allowed = await access.allowedActions({ maker, workspaceUuid, actions: [RUN_IN_CLUSTER] });
  return allowed.has(RUN_IN_CLUSTER);
}

/** Holds the right of each creator for as long as the sandbox starts or runs in its cluster, and stops the sandbox with it. */
export class ClusterRights {
  readonly #deps: ClusterRightsDeps;
  readonly #held = new Map<string, () => void>();

  constructor(deps: ClusterRightsDeps) {
    this.#deps = deps;
  }

  /** Holds the rights of these sandboxes, which start or run here, and of no others. */
  follow(ids: readonly string[]): void {
    const running = new Set(ids);
    for (const [id, release] of this.#held) {
      if (running.has(id)) continue;
      release();
      this.#held.delete(id);
    }
    for (const id of ids) {
      const sandbox = this.#deps.drivers.known(id);
      if (sandbox !== null && !this.#held.has(id)) this.#held.set(id, this.#hold(sandbox));
    }
  }

  close(): void {
    this.follow([]);
  }

  #hold(sandbox: DrivenSandbox): () => void {
    const { access, rights, clock, log } = this.#deps;
    const { workspaceUuid, cluster } = sandbox;
    const key = JSON.stringify([RUN_IN_CLUSTER, cluster?.maker.principalId, cluster?.maker.tokenId, workspaceUuid]);
    const check = async (): Promise<void> => {
      if (!(await mayRunInCluster(access, sandbox))) throw accessErrors.FORBIDDEN();
    };
    return rights.hold({ key, exactKey: key, confirmedAtMs: clock.nowMs() - CONFIRMED_BEFORE_MS, check }, () => {
      // The next check holds it again if its record could not be changed. If it was, the sweep repeats a stop that failed.
      this.#held.delete(sandbox.id);
      this.#deps.stop(sandbox).catch((error: unknown) => {
        log.warn({ err: error, sandbox: sandbox.id }, 'a sandbox without a right to its cluster could not be stopped');
      });
    });
  }
}

/** The right may have gone just before it is held, so that it is asked for at once. */
const CONFIRMED_BEFORE_MS = 10_000;
