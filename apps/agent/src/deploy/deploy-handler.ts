import { parseDurationMs } from '@svc/config';
import { isAppError } from '@svc/errors';
import type { KubeClient } from '@svc/kube';
import type { DeployCommand } from '@svc/protocol';
import { type Clock, KeyedQueue } from '@svc/runtime';
import type { Logger } from '@svc/telemetry';
import type { LiveConfig } from '../config/live-config.ts';
import type { DriftWatch } from '../drift/drift-watch.ts';
import { toMessageError } from '../commands/error-of.ts';
import type { CommandContext, CommandHandler, CommandOutcome } from '../commands/handler.ts';
import type { ClusterEvent } from '../events/cluster-event.ts';
import { agentErrors } from '../errors.ts';
import { runDeploy, type DeployRun } from './run-deploy.ts';

export interface DeployHandlerOptions {
  client: KubeClient;
  config: LiveConfig;
  clock: Clock;
  log: Logger;
  report(event: ClusterEvent): void;
  /** Resolves when the API server responds, or when waiting longer is pointless. */
  reachable(signal: AbortSignal): Promise<void>;
  drift: Pick<DriftWatch, 'deploying' | 'applied' | 'putBackUid'>;
}

/** `deploy` commands: one at a time per project and namespace. A newer waiting one supersedes the older. */
export function createDeployHandler(options: DeployHandlerOptions): CommandHandler<'deploy'> {
  const queue = new KeyedQueue({ maxPerKey: 2, refuses: 'oldest', refuse: () => agentErrors.SUPERSEDED() });
  return {
    // A waiting one does not count, because it would be superseded.
    position: (payload) => (queue.has(keyOf(payload)) ? 1 : 0),
    run: async (payload, context) => {
      try {
        return await queue.run(keyOf(payload), () => deployAlone(options, payload, context), context.signal);
      } catch (error) {
        if (!isAppError(error) || error.code !== 'SUPERSEDED') throw error;
        return { status: 'superseded', error: toMessageError(error) };
      }
    },
  };
}

async function deployAlone(
  options: DeployHandlerOptions,
  payload: DeployCommand,
  context: CommandContext,
): Promise<CommandOutcome> {
  const judge = options.drift.deploying(projectOf(payload));
  try {
    // The machine may have just booted. A new deploy does not wait: its caller gets the error at once.
    if (context.resumed) await options.reachable(context.signal);
    return await deployOnce(options, payload, context);
  } finally {
    judge();
  }
}

function deployOnce(
  { client, config, clock, log, report, drift }: DeployHandlerOptions,
  payload: DeployCommand,
  context: CommandContext,
): Promise<CommandOutcome> {
  const { deploy: rules, agent } = config.current;
  const timeoutMs = (payload.timeout_seconds ?? parseDurationMs(rules.timeout) / 1000) * 1000;
  if (Buffer.byteLength(payload.manifest) === 0) {
    throw agentErrors.INVALID_REQUEST({ details: { field: 'manifest', reason: 'the manifest is empty' } });
  }
  const applied: DeployRun['applied'] = (objects, whole, deleted) =>
    drift.applied({ ...projectOf(payload), objects, whole, deleted }).catch((error: unknown) => {
      // The deploy succeeded: being unable to watch for drift until the next one must not make it fail.
      log.error({ err: error, command_id: context.commandId }, 'the expected objects could not be stored');
    });
  const keyPrefix = agent.key_prefix;
  const putBackUid: DeployRun['putBackUid'] = (object) => drift.putBackUid(projectOf(payload), object);
  return runDeploy({ client, clock, log, rules, keyPrefix, timeoutMs, payload, context, report, applied, putBackUid });
}

function projectOf({ namespace, project_id: projectId }: DeployCommand): { namespace: string; projectId: string } {
  return { namespace, projectId };
}

function keyOf({ namespace, project_id: project }: DeployCommand): string {
  return `${namespace}/${project}`;
}
