import { sandboxErrors } from '../../errors.ts';
import type { NodeRepository, SandboxNode } from './sandbox-node.ts';

/** What operators do with nodes. It works at every replica, also if the node is down or sandboxes are off here. */
export class NodeAdministration {
  readonly #nodes: Pick<NodeRepository, 'list' | 'setDraining'>;

  constructor(nodes: Pick<NodeRepository, 'list' | 'setDraining'>) {
    this.#nodes = nodes;
  }

  list(): Promise<readonly SandboxNode[]> {
    return this.#nodes.list();
  }

  /**
   * From now on, the node starts no sandboxes, and stops those it has. Lasts until `undrain`, also across restarts.
   * Throws NODE_NOT_FOUND.
   */
  drain(node: string): Promise<void> {
    return this.#change(node, true);
  }

  /** The node starts sandboxes again. Those that were stopped stay so. Throws NODE_NOT_FOUND. */
  undrain(node: string): Promise<void> {
    return this.#change(node, false);
  }

  async #change(node: string, isDraining: boolean): Promise<void> {
    const isKnown = await this.#nodes.setDraining(node, isDraining);
    if (!isKnown) throw sandboxErrors.NODE_NOT_FOUND({ details: { node } });
  }
}
