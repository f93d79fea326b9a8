import type { KubeClient } from '@svc/kube';
import type { LogsCommand } from '@svc/protocol';
import type { Clock } from '@svc/runtime';
import { toMessageError } from '../commands/error-of.ts';
import type { CommandContext, CommandHandler, CommandOutcome } from '../commands/handler.ts';
import { chooseContainer, findPod } from '../pods/container-choice.ts';
import { LogQueue } from './log-queue.ts';
import { LogRun } from './log-run.ts';

export interface LogsHandlerOptions {
  client: KubeClient;
  clock: Clock;
}

const MAX_WAITING = 1024 * 1024;

/** `logs`: the existing lines, or with `follow` everything until the container is gone for good. */
export function createLogsHandler({ client, clock }: LogsHandlerOptions): CommandHandler<'logs'> {
  return {
    position: () => 0,
    run: async (payload, context) => {
      const pod = await findPod(client, payload, context.signal);
      const container = chooseContainer(pod, payload.container);
      const queue = new LogQueue({ clock, maxWaiting: MAX_WAITING, send: (piece) => context.output(piece) });
      const run = new LogRun({ client, clock, payload, container, pod, queue, signal: context.signal });
      // Tells the reader at once that the pod exists: the first line of a quiet container may take hours.
      if (payload.follow === true) await context.output({ stream: 'log', encoding: 'utf8', data: '' });
      return runToEnd(run, queue, payload, context);
    },
  };
}

async function runToEnd(
  run: LogRun,
  queue: LogQueue,
  payload: LogsCommand,
  context: CommandContext,
): Promise<CommandOutcome> {
  try {
    const reason = payload.follow === true && payload.previous !== true ? await run.follow() : await run.once();
    await queue.end();
    return { status: 'succeeded', logs: run.result(reason) };
  } catch (error) {
    await queue.end();
    if (!context.signal.aborted) return { status: 'failed', error: toMessageError(error), logs: run.result('eof') };
    return { status: 'cancelled', error: toMessageError(context.signal.reason), logs: run.result('cancelled') };
  }
}
