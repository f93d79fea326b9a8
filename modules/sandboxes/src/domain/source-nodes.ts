import type { SandboxContext } from './context.ts';
import type { OpenNodes } from './nodes/sandbox-node.ts';
import type { SandboxNodes } from './ports.ts';
import type { SandboxService } from './sandbox-service.ts';
import type { SnapshotService } from './snapshots/snapshot-service.ts';
import type { TemplateService } from './templates/template-service.ts';
import type { Volume, VolumeRepository } from './volumes/volume.ts';

/** The kind of owned thing that a new sandbox or volume is: only one node creates it. */
export const NEW_SANDBOX = 'new_sandbox';

/** What a create request names: a volume that the sandbox mounts, or what its files are a copy of. */
export interface SandboxSource {
  readonly kind: 'volume' | 'volume_snapshot' | 'snapshot' | 'template';
  /** Name or id. */
  readonly name: string;
}

export interface SourceNodesDeps {
  readonly context: Pick<SandboxContext, 'driver' | 'node'>;
  readonly service: Pick<SandboxService, 'hasRoom'>;
  readonly nodes: Pick<SandboxNodes, 'live'>;
  readonly openNodes: Pick<OpenNodes, 'withRoom'>;
  readonly volumes: Pick<VolumeRepository, 'find' | 'findById'>;
  readonly snapshots: Pick<SnapshotService, 'findNode'>;
  readonly templates: Pick<TemplateService, 'findNode'>;
}

/**
 * Where sandboxes are created: on the only node with their source, otherwise on this one, and on another one if this is drained
 * or has no room.
 */
export class SourceNodes {
  readonly #deps: SourceNodesDeps;

  constructor(deps: SourceNodesDeps) {
    this.#deps = deps;
  }

  /** `id`: of `sourceId`. Null if the request stays here. */
  async find(id: string, workspaceUuid: string): Promise<string | null> {
    const source = parseSourceId(id);
    const only = source === null ? null : await this.#findOnly(source, workspaceUuid);
    return only ?? this.#findRoom(workspaceUuid);
  }

  async #findOnly({ kind, name }: SandboxSource, workspaceUuid: string): Promise<string | null> {
    const { volumes, snapshots, templates } = this.#deps;
    switch (kind) {
      case 'volume':
        return (await volumes.find(workspaceUuid, name))?.node ?? null;
      case 'volume_snapshot':
        return nodeOfSnapshot(await volumes.findById(name), workspaceUuid);
      case 'snapshot':
        return snapshots.findNode(name, workspaceUuid);
      case 'template':
        return templates.findNode(name, workspaceUuid);
    }
  }

  async #findRoom(workspaceUuid: string): Promise<string | null> {
    const { context, service, nodes, openNodes } = this.#deps;
    if (await service.hasRoom(workspaceUuid)) return null;
    const live = new Set(await nodes.live());
    const others = await openNodes.withRoom(context.driver.name);
    return others.find((node) => node !== context.node && live.has(node)) ?? null;
  }
}

function nodeOfSnapshot(found: Volume | null, workspaceUuid: string): string | null {
  return found?.kind === 'snapshot' && found.workspaceUuid === workspaceUuid ? found.node : null;
}

/** As replicas state it to one another; empty without a source. */
export function sourceId(source: SandboxSource | null): string {
  return source === null ? '' : `${source.kind}:${source.name}`;
}

/** Reads what `sourceId` wrote; signed by a replica. */
function parseSourceId(id: string): SandboxSource | null {
  const at = id.indexOf(':');
  return id === '' ? null : { kind: id.slice(0, at) as SandboxSource['kind'], name: id.slice(at + 1) };
}
