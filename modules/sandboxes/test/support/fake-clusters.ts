import { Agent } from 'node:http';
import type { TunnelledClusters } from '../../src/adapters/drivers/kubernetes/tunnel-connector.ts';
import type { SandboxesDependencies } from '../../src/assembly/dependencies.ts';
import type { ClusterRecord } from '../../src/domain/clusters/sandbox-cluster.ts';
import type { SandboxDriver } from '../../src/domain/driver.ts';

/** The connected clusters of an installation, as all of its nodes see them. */
export class FakeClusters {
  readonly driver: SandboxDriver;
  /** Drivers of clusters that do not have the same one as the others, by id. */
  readonly drivers = new Map<string, SandboxDriver>();
  /** Why agents refuse sandboxes. */
  refusal: string | null = null;
  readonly opened: { readonly node: string; readonly isVerified: boolean }[] = [];
  readonly #records = new Map<string, ClusterRecord>();
  readonly #tunnels = new Map<string, { readonly node: string; readonly epoch: number }>();
  readonly #listeners = new Set<(clusterId: string) => void>();
  #epoch = 0;

  constructor(driver: SandboxDriver) {
    this.driver = driver;
  }

  add(workspaceUuid: string, name: string): string {
    const id = `cls-${name}`;
    this.#records.set(id, { id, name, workspaceUuid });
    return id;
  }

  /** The agent of a cluster dials a node. */
  dial(id: string, node: string): void {
    this.#tunnels.set(id, { node, epoch: (this.#epoch += 1) });
    this.#notify(id);
  }

  hangUp(id: string): void {
    this.#tunnels.delete(id);
    this.#notify(id);
  }

  remove(id: string): void {
    this.#records.delete(id);
    this.hangUp(id);
  }

  /** For a test platform. */
  on(node: string): Pick<SandboxesDependencies, 'clusters' | 'clusterConnector'> {
    const isHere = (id: string): boolean => this.#tunnels.get(id)?.node === node;
    const clusters: TunnelledClusters = {
      find: async (workspaceUuid, nameOrId) =>
        [...this.#records.values()].find(
          (each) => each.workspaceUuid === workspaceUuid && (each.id === nameOrId || each.name === nameOrId),
        ) ?? null,
      findById: async (id) => this.#records.get(id) ?? null,
      holder: async (id) => this.#tunnels.get(id)?.node ?? null,
      held: () => [...this.#tunnels.keys()].filter(isHere),
      epoch: (id) => (isHere(id) ? (this.#tunnels.get(id)?.epoch ?? null) : null),
      subscribe: (listener) => {
        this.#listeners.add(listener);
        return () => void this.#listeners.delete(listener);
      },
      connections: () => ({
        agent: new Agent(),
        connect: () => {
          throw new Error('not used');
        },
      }),
    };
    return {
      clusters,
      clusterConnector: {
        open: async ({ id }, isVerified) => {
          if (this.refusal !== null) throw new Error(this.refusal);
          const driver = this.drivers.get(id) ?? this.driver;
          await driver.open();
          this.opened.push({ node, isVerified });
          return { driver, fingerprint: 'allowed', hasGvisor: false };
        },
        fingerprint: async () => (this.refusal === null ? 'allowed' : null),
      },
    };
  }

  #notify(id: string): void {
    for (const listener of this.#listeners) listener(id);
  }
}
