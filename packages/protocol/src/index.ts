export { CLOSE_CODES, reconnectAdvice, type CloseCode, type ReconnectAdvice } from './close-codes.ts';
export {
  createAgentMessageDecoder,
  createPlatformMessageDecoder,
  type Decoded,
  type MessageDecoder,
  type UnknownMessage,
} from './decode.ts';
export { decodeEnvelope, encodeEnvelope, type Envelope } from './envelope.ts';
export { MESSAGE_ERROR_CODES, protocolErrors, type MessageErrorCode } from './errors.ts';
export { PROTOCOL_HEADER, PROTOCOL_LIMITS, PROTOCOL_TIMES, PROTOCOL_VERSION } from './limits.ts';
export { CONTRACT_RATE, MessageBudget } from './message-budget.ts';
export {
  CONTROL_TYPES,
  agentPayloadSchemas,
  platformPayloadSchemas,
  type AgentMessage,
  type AgentMessageType,
  type AgentPayloads,
  type PlatformMessage,
  type PlatformMessageType,
  type PlatformPayloads,
} from './messages.ts';
export {
  cancelSchema,
  deploySchema,
  execSchema,
  logsSchema,
  outputAckSchema,
  resizeSchema,
  resultAckSchema,
  stdinSchema,
  type CancelCommand,
  type DeployCommand,
  type ExecCommand,
  type LogsCommand,
  type OutputAck,
  type ResizeCommand,
  type ResultAck,
  type StdinCommand,
} from './schemas/commands.ts';
export { actorSchema, messageErrorSchema, type Actor, type CommandName, type MessageError } from './schemas/parts.ts';
export {
  commandAckSchema,
  commandOutputSchema,
  commandProgressSchema,
  commandResultSchema,
  commandStatusSchema,
  deployResultSchema,
  execResultSchema,
  logsResultSchema,
  resourceResultSchema,
  type CommandAck,
  type CommandOutput,
  type CommandProgress,
  type CommandResult,
  type CommandStatus,
  type DeployResult,
  type ExecResult,
  type LogsResult,
  type ResourceResult,
} from './schemas/replies.ts';
export {
  EVENT_TYPES,
  clusterStatusSchema,
  eventAckSchema,
  eventSchema,
  heartbeatSchema,
  limitationSchema,
  type ClusterStatus,
  type EventAck,
  type EventReport,
  type EventType,
  type Heartbeat,
  type Limitation,
} from './schemas/reports.ts';
export {
  drainSchema,
  errorMessageSchema,
  helloSchema,
  welcomeSchema,
  type Drain,
  type ErrorMessage,
  type Hello,
  type Welcome,
} from './schemas/session.ts';
export {
  decodeTunnelRequest,
  encodeTunnelRequest,
  isServiceName,
  KUBERNETES_SERVICE,
  SANDBOX_PROFILE_PATH,
  SANDBOXES_SERVICE,
  TUNNEL_CLOSE_CODES,
  TUNNEL_PATH,
  TUNNEL_STREAM_CODES,
  type SandboxProfile,
  type TunnelRequest,
} from './tunnel.ts';
