import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { decodeEnvelope, type Envelope } from './envelope.ts';
import { protocolErrors } from './errors.ts';
import { agentPayloadSchemas, platformPayloadSchemas, type AgentMessage, type PlatformMessage } from './messages.ts';

/** A message of a type that this side does not know: to be ignored and answered by one `error`. */
export interface UnknownMessage {
  known: false;
  envelope: Envelope;
}

export type Decoded<Message> = { known: true; message: Message } | UnknownMessage;

/** Decodes text frames of one direction. Unknown payload fields are kept and ignored, so that either side can grow. */
export interface MessageDecoder<Message> {
  /** Throws `FRAME_TOO_LARGE`, `MALFORMED_ENVELOPE` or `INVALID_PAYLOAD`, and nothing else. */
  decode(text: string): Decoded<Message>;
  /** The second half of `decode`, for a caller that needs the envelope's id also when the payload is refused. */
  check(envelope: Envelope): Decoded<Message>;
}

/** For a platform: reads what agents send. */
export function createAgentMessageDecoder(): MessageDecoder<AgentMessage> {
  return createDecoder<AgentMessage>(agentPayloadSchemas);
}

/** For an agent: reads what a platform sends. */
export function createPlatformMessageDecoder(): MessageDecoder<PlatformMessage> {
  return createDecoder<PlatformMessage>(platformPayloadSchemas);
}

function createDecoder<Message>(schemas: Record<string, TSchema>): MessageDecoder<Message> {
  const validators = new Map<string, ReturnType<typeof Compile>>();
  const validatorOf = (type: string): ReturnType<typeof Compile> | undefined => {
    const known = validators.get(type);
    if (known !== undefined) return known;
    // `hasOwn`: a peer's type may be called `constructor`.
    const schema = Object.hasOwn(schemas, type) ? schemas[type] : undefined;
    if (schema === undefined) return undefined;
    const validator = Compile(schema);
    validators.set(type, validator);
    return validator;
  };
  const check = (envelope: Envelope): Decoded<Message> => {
    const validator = validatorOf(envelope.type);
    if (validator === undefined) return { known: false, envelope };
    if (!validator.Check(envelope.payload)) throw invalid(envelope.type, validator.Errors(envelope.payload));
    // The schema of this type has just accepted the payload, which is what Message says of it.
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
