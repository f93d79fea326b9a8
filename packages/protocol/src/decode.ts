import type { TSchema } from 'typebox';
import { Compile } from 'typebox/schema';
import { decodeEnvelope, type Envelope } from './envelope.ts';
import { protocolErrors } from './errors.ts';
import { agentPayloadSchemas, platformPayloadSchemas, type AgentMessage, type PlatformMessage } from './messages.ts';

/** A message of an unknown type: ignore it and reply with one `error`. */
export interface UnknownMessage {
  known: false;
  envelope: Envelope;
}

/** A decoded frame: a message with a valid payload, or an envelope of an unknown type with an unchecked payload. */
export type Decoded<Message> = { known: true; message: Message } | UnknownMessage;

/** Decodes text frames of one direction. Keeps and ignores unknown payload fields, so that both sides can evolve. */
export interface MessageDecoder<Message> {
  /** Throws only `FRAME_TOO_LARGE`, `MALFORMED_ENVELOPE` or `INVALID_PAYLOAD`. */
  decode(text: string): Decoded<Message>;
  /** The second half of `decode`, for callers that need the envelope's id even if the payload is refused. */
  check(envelope: Envelope): Decoded<Message>;
}

/** Creates the platform's decoder for agent messages. */
export function createAgentMessageDecoder(): MessageDecoder<AgentMessage> {
  return createDecoder<AgentMessage>(agentPayloadSchemas);
}

/** Creates the agent's decoder for platform messages. */
export function createPlatformMessageDecoder(): MessageDecoder<PlatformMessage> {
  return createDecoder<PlatformMessage>(platformPayloadSchemas);
}

function createDecoder<Message>(schemas: Record<string, TSchema>): MessageDecoder<Message> {
  const validators = new Map<string, ReturnType<typeof Compile>>();
  const findValidator = (type: string): ReturnType<typeof Compile> | undefined => {
    const known = validators.get(type);
    if (known !== undefined) return known;
    // `hasOwn`: a peer may send the type `constructor`.
    const schema = Object.hasOwn(schemas, type) ? schemas[type] : undefined;
    if (schema === undefined) return undefined;
    const validator = Compile(schema);
    validators.set(type, validator);
    return validator;
  };
  const check = (envelope: Envelope): Decoded<Message> => {
    const validator = findValidator(envelope.type);
    if (validator === undefined) return { known: false, envelope };
    if (!validator.Check(envelope.payload)) throw invalid(envelope.type, validator.Errors(envelope.payload)[1]);
    // The schema of this type just accepted the payload, as Message requires.
    return { known: true, message: envelope as Message };
  };
  return { check, decode: (text) => check(decodeEnvelope(text)) };
}

function invalid(type: string, errors: readonly { instancePath: string; message: string }[]): Error {
  const first = errors[0];
  const path = first?.instancePath.slice(1).replaceAll('/', '.') ?? '';
  const field = path === '' ? 'payload' : `payload.${path.slice(0, 200)}`;
  const reason = (first?.message ?? 'is not what the type needs').slice(0, 300);
  return protocolErrors.INVALID_PAYLOAD({ details: { type, field, reason } });
}
