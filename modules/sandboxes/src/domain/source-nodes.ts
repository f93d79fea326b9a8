import type { SnapshotService } from './snapshots/snapshot-service.ts';
import type { TemplateService } from './templates/template-service.ts';
import type { Volume, VolumeRepository } from './volumes/volume.ts';

/** The kind of owned thing that a sandbox or a volume is created from, if only one node has it. */
export const SANDBOX_SOURCE = 'sandbox_source';

/** What a create request names: a volume that the sandbox mounts, or what its files are a copy of. */
export interface SandboxSource {
  readonly kind: 'volume' | 'volume_snapshot' | 'snapshot' | 'template';
  /** Name or id. */
  readonly name: string;
}

export interface SourceNodesDeps {
  readonly volumes: Pick<VolumeRepository, 'find' | 'findById'>;
  readonly snapshots: Pick<SnapshotService, 'findNode'>;
  readonly templates: Pick<TemplateService, 'findNode'>;
}

/** Where sandboxes can be created from what only one node has. */
export class SourceNodes {
  readonly #deps: SourceNodesDeps;

  constructor(deps: SourceNodesDeps) {
    this.#deps = deps;
  }

  /** The only node with a source of this workspace; null if this node can use it, too, or there is none. */
  async find(id: string, workspaceUuid: string): Promise<string | null> {
    const { volumes, snapshots, templates } = this.#deps;
    const { kind, name } = parseSourceId(id);
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
}

function nodeOfSnapshot(found: Volume | null, workspaceUuid: string): string | null {
  return found?.kind === 'snapshot' && found.workspaceUuid === workspaceUuid ? found.node : null;
}

/** As replicas state it to one another. */
export function sourceId({ kind, name }: SandboxSource): string {
  return `${kind}:${name}`;
}

/** Reads what `sourceId` wrote; signed by a replica. */
function parseSourceId(id: string): SandboxSource {
  const at = id.indexOf(':');
  return { kind: id.slice(0, at) as SandboxSource['kind'], name: id.slice(at + 1) };
}
