import type { Static, TSchema } from 'typebox';
import {
  cancelSchema,
  deploySchema,
  execSchema,
  logsSchema,
  outputAckSchema,
  resizeSchema,
  resultAckSchema,
  stdinSchema,
} from './schemas/commands.ts';
import {
  commandAckSchema,
  commandOutputSchema,
  commandProgressSchema,
  commandResultSchema,
} from './schemas/replies.ts';
import { clusterStatusSchema, eventAckSchema, eventSchema, heartbeatSchema } from './schemas/reports.ts';
import {
  drainSchema,
  errorMessageSchema,
  helloSchema,
  pingSchema,
  pongSchema,
  welcomeSchema,
} from './schemas/session.ts';
import type { Envelope } from './envelope.ts';

/** Messages from an agent. The first three are the contract's; the others are additive. */
export const agentPayloadSchemas = {
  heartbeat: heartbeatSchema,
  cluster_status: clusterStatusSchema,
  event: eventSchema,
  hello: helloSchema,
  command_ack: commandAckSchema,
  command_progress: commandProgressSchema,
  command_output: commandOutputSchema,
  command_result: commandResultSchema,
  ping: pingSchema,
  pong: pongSchema,
  error: errorMessageSchema,
} as const satisfies Record<string, TSchema>;

/** Messages from a platform. The first three are the contract's; the others are additive. */
export const platformPayloadSchemas = {
  deploy: deploySchema,
  exec: execSchema,
  logs: logsSchema,
  welcome: welcomeSchema,
  output_ack: outputAckSchema,
  result_ack: resultAckSchema,
  event_ack: eventAckSchema,
  cancel: cancelSchema,
  stdin: stdinSchema,
  resize: resizeSchema,
  drain: drainSchema,
  ping: pingSchema,
  pong: pongSchema,
  error: errorMessageSchema,
} as const satisfies Record<string, TSchema>;

type Payloads<Schemas extends Record<string, TSchema>> = { [Type in keyof Schemas]: Static<Schemas[Type]> };
type Messages<AllPayloads> = {
  [Type in keyof AllPayloads & string]: Envelope<Type, AllPayloads[Type]>;
}[keyof AllPayloads & string];

/** Payload by message type, for messages from an agent. */
export type AgentPayloads = Payloads<typeof agentPayloadSchemas>;
/** Payload by message type, for messages from a platform. */
export type PlatformPayloads = Payloads<typeof platformPayloadSchemas>;
/** Narrow by `type`: `if (message.type === 'heartbeat') message.payload.metrics…`. */
export type AgentMessage = Messages<AgentPayloads>;
/** A platform's message in its envelope. Narrow by `type`, as with `AgentMessage`. */
export type PlatformMessage = Messages<PlatformPayloads>;
/** Value of `type` in messages from an agent. */
export type AgentMessageType = keyof AgentPayloads;
/** Value of `type` in messages from a platform. */
export type PlatformMessageType = keyof PlatformPayloads;

/** Messages that use the reserved share of the rate, because others depend on them. */
export const CONTROL_TYPES: ReadonlySet<string> = new Set([
  'hello',
  'heartbeat',
  'command_ack',
  'command_result',
  'error',
  'welcome',
  'output_ack',
  'result_ack',
  'event_ack',
  'cancel',
  'drain',
  'ping',
  'pong',
]);
