import { parseDurationMs } from '@svc/config';
import { isAppError } from '@svc/errors';
import type { KubeClient } from '@svc/kube';
import type { DeployCommand } from '@svc/protocol';
import type { Logger } from '@svc/telemetry';
import type { Clock } from '../clock.ts';
import type { LiveConfig } from '../config/live-config.ts';
import { messageErrorOf } from '../commands/error-of.ts';
import type { CommandContext, CommandHandler, CommandOutcome } from '../commands/handler.ts';
import type { ClusterEvent } from '../events/cluster-event.ts';
import { agentErrors } from '../errors.ts';
import { runDeploy } from './run-deploy.ts';
import { ProjectLocks } from './project-locks.ts';

export interface DeployHandlerOptions {
  client: KubeClient;
  config: LiveConfig;
  clock: Clock;
  log: Logger;
  report(event: ClusterEvent): void;
}

/** `deploy` commands: one at a time for each project and namespace. */
export function createDeployHandler(options: DeployHandlerOptions): CommandHandler<'deploy'> {
  const locks = new ProjectLocks();
  return {
    position: (payload) => locks.position(keyOf(payload)),
    run: async (payload, context) => {
      let release: () => void;
      try {
        release = await locks.acquire(keyOf(payload), context.signal);
      } catch (error) {
        if (isAppError(error) && error.code === 'SUPERSEDED') {
          return { status: 'superseded', error: messageErrorOf(error) };
        }
        throw error;
      }
      try {
        return await deployOnce(options, payload, context);
      } finally {
        release();
      }
    },
  };
}

function deployOnce(
  { client, config, clock, log, report }: DeployHandlerOptions,
  payload: DeployCommand,
  context: CommandContext,
): Promise<CommandOutcome> {
  const { deploy: rules, agent } = config.current;
  const timeoutMs = (payload.timeout_seconds ?? parseDurationMs(rules.timeout) / 1000) * 1000;
  if (Buffer.byteLength(payload.manifest) === 0) {
    throw agentErrors.INVALID_REQUEST({ details: { field: 'manifest', reason: 'the manifest is empty' } });
  }
  return runDeploy({ client, clock, log, rules, keyPrefix: agent.key_prefix, timeoutMs, payload, context, report });
}

function keyOf({ namespace, project_id: project }: DeployCommand): string {
  return `${namespace}/${project}`;
}
