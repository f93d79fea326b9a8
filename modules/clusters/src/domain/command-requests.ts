import { isAppError } from '@svc/errors';
import {
  encodeEnvelope,
  type CommandName,
  type DeployCommand,
  type ExecCommand,
  type LogsCommand,
} from '@svc/protocol';
import type { QuotaLimits } from '@svc/quotas';
import { clusterErrors } from '../errors.ts';
import type { ManifestInspector } from './manifest/inspector.ts';
import type { Cluster } from './cluster.ts';
import { type Clock } from '@svc/runtime';
import { timestampAfter } from './timestamps.ts';
import type { CommandDispatcher } from './command-dispatcher.ts';
import type { CommandActor, CommandStore, IdempotencyKey, NewDeployment } from './command.ts';
import { newId, sha256, type RandomBytes } from './identifiers.ts';

export interface CommandRequestsOptions {
  commands: CommandStore;
  dispatcher: CommandDispatcher;
  inspector: ManifestInspector;
  clock: Clock;
  randomBytes: RandomBytes;
  isConnected: (cluster: Cluster) => boolean;
  maxOpenCommands: number;
  quotaLimits: QuotaLimits;
  queueMs: number;
  resultGraceMs: number;
}

/** Who issues the command and how; common to all kinds. */
export interface CommandOrigin {
  cluster: Cluster;
  actor: CommandActor;
  idempotencyKey: string | null;
  /** If false, a command to an offline agent is refused with `AGENT_OFFLINE`. */
  queueIfOffline: boolean;
}

export interface Accepted {
  commandId: string;
  replayed: boolean;
}

const DEFAULT_SECONDS = { deploy: 300, exec: 60, logs: 60 } as const;
const DEFAULT_TAIL_LINES = 100;
/** For commands that end on their own or with their reader: interactive exec and followed logs. */
const UNLIMITED_SECONDS = 86_400;

/** Validates callers' command requests and stores them. */
export class CommandRequests {
  readonly #options: CommandRequestsOptions;

  constructor(options: CommandRequestsOptions) {
    this.#options = options;
  }

  async deploy(origin: CommandOrigin, payload: DeployCommand): Promise<Accepted> {
    await this.#options.inspector.inspect(origin.cluster.workspaceUuid, payload.manifest);
    const deployment: NewDeployment = {
      id: newId('dep', this.#options.randomBytes),
      projectId: payload.project_id,
      namespace: payload.namespace,
      manifestSha256: sha256(payload.manifest),
      dryRun: payload.dry_run ?? false,
    };
    return this.#submit(origin, 'deploy', payload, payload.timeout_seconds ?? DEFAULT_SECONDS.deploy, deployment);
  }

  exec(origin: CommandOrigin, payload: ExecCommand): Promise<Accepted> {
    const seconds = payload.timeout_seconds ?? DEFAULT_SECONDS.exec;
    const complete = { container: '', ...payload };
    return this.#submit(origin, 'exec', complete, seconds === 0 ? UNLIMITED_SECONDS : seconds, null);
  }

  logs(origin: CommandOrigin, payload: LogsCommand, onAccepted: (commandId: string) => void): Promise<Accepted> {
    const seconds = payload.follow === true ? UNLIMITED_SECONDS : DEFAULT_SECONDS.logs;
    return this.#submit(origin, 'logs', completeLogs(payload), seconds, null, onAccepted);
  }

  async #submit(
    origin: CommandOrigin,
    kind: CommandName,
    payload: DeployCommand | ExecCommand | LogsCommand,
    timeoutSeconds: number,
    deployment: NewDeployment | null,
    beforeSubmit?: (commandId: string) => void,
  ): Promise<Accepted> {
    const { dispatcher, clock, randomBytes, maxOpenCommands, quotaLimits, queueMs, resultGraceMs } = this.#options;
    const { cluster, actor, idempotencyKey } = origin;
    const id = newId('cmd', randomBytes);
    const now = clock.now();
    refuseTooLarge(kind, id, payload, now);
    const idempotency = idempotencyOf(idempotencyKey, kind, payload);
    const first = await this.#findReplay(cluster, idempotency);
    if (first !== undefined) return { commandId: first, replayed: true };
    this.#requireAgent(origin, kind);
    const limits = await quotaLimits.readLimits(cluster.workspaceUuid);
    beforeSubmit?.(id);
    return dispatcher.submit({
      command: {
        id,
        clusterId: cluster.id,
        kind,
        payload,
        createdBy: actor,
        createdAt: now.toISOString(),
        timeoutMs: timeoutSeconds * 1000 + resultGraceMs,
        deadlineAt: timestampAfter(now, queueMs),
      },
      deployment,
      idempotency,
      maxOpenCommands,
      limits,
    });
  }

  async #findReplay(cluster: Cluster, idempotency: IdempotencyKey | null): Promise<string | undefined> {
    return idempotency === null ? undefined : this.#options.commands.replay(cluster.id, idempotency);
  }

  #requireAgent({ cluster, queueIfOffline }: CommandOrigin, kind: CommandName): void {
    if (!this.#options.isConnected(cluster)) {
      if (queueIfOffline) return;
      throw clusterErrors.AGENT_OFFLINE({ details: { cluster: cluster.name }, headers: { 'retry-after': '5' } });
    }
    if (cluster.protocol !== 'svc' || cluster.capabilities.includes(kind)) return;
    throw clusterErrors.UNSUPPORTED({
      details: { cluster: cluster.name, field: 'capabilities', reason: `the agent does not offer ${kind}` },
    });
  }
}

/**
 * An agent that knows only the contract receives every field, with the defaults that our agent applies to absent ones.
 */
function completeLogs(payload: LogsCommand): LogsCommand {
  const { since_time: time, since_seconds: seconds, resume_after: place } = payload;
  const begun = time !== undefined || seconds !== undefined || place !== undefined;
  return { container: '', ...(begun ? {} : { tail_lines: DEFAULT_TAIL_LINES }), follow: false, ...payload };
}

/** JSON escaping can push a manifest below its own limit over the frame limit. */
function refuseTooLarge(kind: CommandName, id: string, payload: object, now: Date): void {
  try {
    encodeEnvelope({ type: kind, id, timestamp: now.toISOString(), payload });
  } catch (error) {
    if (!isAppError(error) || error.code !== 'FRAME_TOO_LARGE') throw error;
    throw clusterErrors.MANIFEST_TOO_LARGE({
      details: { field: kind === 'deploy' ? 'manifest' : 'body', reason: 'the message is too large for one frame' },
      cause: error,
    });
  }
}

function idempotencyOf(key: string | null, kind: CommandName, payload: object): IdempotencyKey | null {
  return key === null ? null : { key, requestSha256: sha256(JSON.stringify([kind, payload])) };
}
