import { type HttpApp, nullable } from '@svc/http';
import type { HeldLease } from '@svc/object-store';
import type { ReplicaRegistry } from '@svc/replicas';
import type { NodeAdministration, SandboxNode } from '@svc/sandboxes';
import { Type, type Static } from 'typebox';
import { joinNodes, type PlatformNode } from '../nodes.ts';

const TAGS = ['nodes'];
const PATH = '/api/v1/admin/nodes';

const timestamp = Type.String({ format: 'date-time', description: 'RFC 3339, UTC, milliseconds' });

const replicaSchema = Type.Object({
  version: Type.String(),
  host: nullable(Type.String({ description: 'Hostname of its machine' })),
  url: nullable(Type.String({ description: 'Where other replicas reach it; null if they cannot' })),
  started_at: timestamp,
  seen_at: timestamp,
  live: Type.Boolean({ description: 'Whether its lease is valid' }),
  lease_left_ms: Type.Integer({ description: 'Time until its lease ends, unless it is renewed; 0 if it has ended' }),
});

const roomSchema = Type.Object({
  cpus: Type.Integer(),
  memory_bytes: Type.Integer(),
  free_memory_bytes: Type.Integer(),
  free_disk_bytes: Type.Integer({ description: 'Free space on the disk of the data folder' }),
});

const drainSchema = Type.Object({
  state: Type.Union([Type.Literal('draining'), Type.Literal('drained')]),
  requested_at: timestamp,
  remaining: Type.Integer({ description: 'Sandboxes that still have to be stopped or copied into a snapshot' }),
  archiving: Type.Integer({ description: 'Snapshots and templates that still have to be archived for other nodes' }),
  unarchived: Type.Integer({
    description: 'Snapshots and templates that could not be archived so far; only this node has their files',
  }),
});

const sandboxesSchema = Type.Object({
  driver: Type.String(),
  running: Type.Integer({ description: 'Running sandboxes, paused ones included' }),
  total: Type.Integer({ description: 'Sandboxes in any state' }),
  max_running: Type.Integer(),
  used_cpus: Type.Number({ description: 'CPUs that the running sandboxes may use' }),
  used_memory_mb: Type.Integer({ description: 'Memory that the running sandboxes may use' }),
  room: Type.Union([roomSchema, Type.Null()], { description: 'Null if its sandboxes run on other machines' }),
  reported_at: timestamp,
});

const workSchema = Type.Object({
  name: Type.String({ description: 'Such as lifecycle or notifications' }),
  node: Type.String({ description: 'ID of the node that runs it' }),
  lease_left_ms: Type.Integer(),
});

const authoritySchema = Type.Object({
  expires_at: Type.String({ format: 'date-time', description: 'Renewed a year before' }),
});

const nodeSchema = Type.Object({
  id: Type.String(),
  this_node: Type.Boolean({ description: 'Whether it served this request' }),
  replica: Type.Union([replicaSchema, Type.Null()], {
    description: 'The process; null if it was last seen more than thirty days ago',
  }),
  sandboxes: Type.Union([sandboxesSchema, Type.Null()], { description: 'Null if it has never run sandboxes' }),
  drain: Type.Union([drainSchema, Type.Null()], { description: 'Null unless it is drained' }),
});

const paramsSchema = Type.Object({ node: Type.String({ minLength: 1, maxLength: 100 }) });
const bodyless = Type.Optional(Type.Union([Type.Object({}, { additionalProperties: false }), Type.Null()]));

export interface NodeRouteDeps {
  readonly replicas: Pick<ReplicaRegistry, 'id' | 'list'>;
  readonly nodes: Pick<NodeAdministration, 'list' | 'drain' | 'undrain'>;
  readonly workLeases: () => Promise<readonly HeldLease[]>;
  readonly nowMs: () => number;
  /** When the authority of the replicas ends; null without one. */
  readonly authorityExpiresAt: () => Date | null;
}

/** Nodes for operators: what they are, and their drain. Works at every replica. */
export function registerNodeRoutes(app: HttpApp, deps: NodeRouteDeps): void {
  const { replicas, nodes, workLeases, nowMs, authorityExpiresAt } = deps;
  const list = async (): Promise<PlatformNode[]> => joinNodes(await replicas.list(), await nodes.list());
  app.get(
    PATH,
    {
      config: { action: 'node:list', scope: 'self' },
      schema: {
        tags: TAGS,
        summary: 'List replicas and nodes for sandboxes, with their capacity and drain state',
        response: {
          200: Type.Object({
            nodes: Type.Array(nodeSchema),
            work: Type.Array(workSchema, { description: 'Background work with a single active replica' }),
            internal_authority: Type.Union([authoritySchema, Type.Null()], {
              description: 'Authority that certifies replicas; null if replicas do not connect to each other',
            }),
          }),
        },
      },
    },
    async () => ({
      nodes: (await list()).map((node) => render(node, replicas.id)),
      work: (await workLeases()).map(({ name, holder, untilMs }) => ({
        name,
        node: holder,
        lease_left_ms: Math.max(0, untilMs - nowMs()),
      })),
      internal_authority: toAuthorityView(authorityExpiresAt()),
    }),
  );

  for (const [verb, summary] of [
    ['drain', 'Drain a node: it starts no new sandboxes, and stops the others after a notice'],
    ['undrain', 'End the drain of a node: it starts sandboxes again; stopped sandboxes stay stopped'],
  ] as const) {
    app.post(
      `${PATH}/:node/${verb}`,
      {
        config: { action: `node:${verb}`, scope: 'self' },
        schema: { tags: TAGS, summary, params: paramsSchema, body: bodyless, response: { 200: nodeSchema } },
      },
      async (request) => {
        const { node: id } = request.params;
        await nodes[verb](id);
        const node = (await list()).find((each) => each.id === id) ?? { id, replica: null, sandboxes: null };
        return render(node, replicas.id);
      },
    );
  }
}

function render({ id, replica, sandboxes }: PlatformNode, self: string): Static<typeof nodeSchema> {
  return {
    id,
    this_node: id === self,
    replica:
      replica === null
        ? null
        : {
            version: replica.version,
            host: replica.host,
            url: replica.url,
            started_at: replica.startedAt,
            seen_at: replica.seenAt,
            live: replica.isLive,
            lease_left_ms: replica.leaseLeftMs,
          },
    sandboxes: sandboxes === null ? null : toSandboxesView(sandboxes),
    drain: sandboxes === null ? null : toDrainView(sandboxes),
  };
}

function toAuthorityView(expiresAt: Date | null): Static<typeof authoritySchema> | null {
  return expiresAt === null ? null : { expires_at: expiresAt.toISOString() };
}

function toSandboxesView({ room, ...node }: SandboxNode): Static<typeof sandboxesSchema> {
  return {
    driver: node.driver,
    running: node.running,
    total: node.total,
    max_running: node.maxRunning,
    used_cpus: node.cpuMillis / 1000,
    used_memory_mb: node.memoryMb,
    room:
      room === null
        ? null
        : {
            cpus: room.cpus,
            memory_bytes: room.memoryBytes,
            free_memory_bytes: room.freeMemoryBytes,
            free_disk_bytes: room.freeDiskBytes,
          },
    reported_at: node.reportedAt,
  };
}

function toDrainView(node: SandboxNode): Static<typeof drainSchema> | null {
  const { drainRequestedAt, toDrain: remaining, unarchived } = node;
  if (drainRequestedAt === null) return null;
  const isDone = remaining === 0 && unarchived.pending === 0;
  return {
    state: isDone ? 'drained' : 'draining',
    requested_at: drainRequestedAt,
    remaining,
    archiving: unarchived.pending,
    unarchived: unarchived.failed,
  };
}
