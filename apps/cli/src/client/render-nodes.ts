import type { NodeOverview, PlatformNode } from '@svc/sdk';
import { renderBytes, renderTable } from './output.ts';

const COLUMNS = ['NODE', 'HOST', 'VERSION', 'STATE', 'STARTED', 'LEASE', 'DRIVER', 'SANDBOXES', 'FREE', 'WORK'];

const NONE = '-';

/** A table of the nodes, in which `*` marks the one that answered, and the end of their certificates. */
export function renderNodes({ nodes, work, internal_authority: authority }: NodeOverview): string[] {
  const rows = nodes.map((node) => [
    ...renderRow(node),
    work.flatMap(({ name, node: holder }) => (holder === node.id ? [name] : [])).join(', ') || NONE,
  ]);
  const table = renderTable(COLUMNS, rows);
  return authority === null ? table : [...table, '', `Certificates between nodes end ${authority.expires_at}`];
}

function renderRow({ id, this_node: isThis, replica, sandboxes, drain }: PlatformNode): string[] {
  return [
    isThis ? `${id} *` : id,
    replica?.host ?? NONE,
    replica?.version ?? NONE,
    renderState(replica?.live === true, drain),
    replica?.started_at ?? NONE,
    replica?.live === true ? `${Math.ceil(replica.lease_left_ms / 1000)} s` : NONE,
    sandboxes?.driver ?? NONE,
    sandboxes === null ? NONE : `${sandboxes.running} of ${sandboxes.total} running, at most ${sandboxes.max_running}`,
    renderRoom(sandboxes?.room ?? null),
  ];
}

function renderState(isLive: boolean, drain: PlatformNode['drain']): string {
  const state = isLive ? 'up' : 'down';
  if (drain === null) return state;
  return drain.state === 'drained'
    ? `${state}, drained`
    : `${state}, draining (${drain.remaining + drain.archiving} left)`;
}

function renderRoom(room: NonNullable<PlatformNode['sandboxes']>['room']): string {
  if (room === null) return NONE;
  return `${renderBytes(room.free_memory_bytes)} memory, ${renderBytes(room.free_disk_bytes)} disk`;
}
