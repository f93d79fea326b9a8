import type { AppError } from '@svc/errors';
import type { Envelope, PlatformMessage } from '@svc/protocol';
import type { Logger } from '@svc/telemetry';
import type { Delivery } from '../channel/delivery.ts';
import type { CommandRunner } from './command-runner.ts';

export interface MessageRouterOptions {
  runner: CommandRunner;
  delivery: Delivery;
  log: Logger;
}

/** Routes each platform message to its handler. */
export function routeMessage({ runner, delivery, log }: MessageRouterOptions, message: PlatformMessage): void {
  switch (message.type) {
    case 'deploy':
      runner.receive('deploy', message.id, message.payload);
      return;
    case 'exec':
      runner.receive('exec', message.id, message.payload);
      return;
    case 'logs':
      runner.receive('logs', message.id, message.payload);
      return;
    case 'cancel':
      runner.cancel(message.payload.command_id, message.payload.reason);
      return;
    case 'stdin': {
      const { command_id: id, seq, data, encoding, eof } = message.payload;
      runner.input(id, { type: 'stdin', seq, data: Buffer.from(data, encoding ?? 'utf8'), eof: eof ?? false });
      return;
    }
    case 'resize':
      runner.input(message.payload.command_id, { ...message.payload, type: 'resize' });
      return;
    case 'output_ack':
      runner.outputStored(message.payload);
      return;
    case 'result_ack':
      delivery.resultsStored(message.payload).catch((error: unknown) => {
        log.error({ err: error }, 'an acknowledgement could not be recorded');
      });
      return;
    case 'event_ack':
      delivery.eventsStored(message.payload);
      return;
    case 'welcome':
    case 'drain':
    case 'ping':
    case 'pong':
    case 'error':
      return; // handled by the session and the channel
  }
}

/** Handles known types whose payload violates its schema: a command still gets its one result. */
export function routeRefusal(runner: CommandRunner, envelope: Envelope, error: AppError): void {
  const { type } = envelope;
  if (type === 'deploy' || type === 'exec' || type === 'logs') runner.refuse(type, envelope, error);
}
