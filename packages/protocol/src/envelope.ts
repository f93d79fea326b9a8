import { protocolErrors } from './errors.ts';
import { PROTOCOL_LIMITS } from './limits.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Whether JSON text nests deeper than `limit`. Checked before parsing: a million open brackets fit into one frame, and
 * anything that walks the parsed value, such as a validator or serializer, would overflow the stack.
 */
function nestsDeeperThan(text: string, limit: number): boolean {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (inString) {
      if (code === BACKSLASH) index += 1;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) {
      inString = true;
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth += 1;
      if (depth > limit) return true;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      depth -= 1;
    }
  }
  return false;
}

/** The contract's frame: exactly these four fields for every type. */
export interface Envelope<Type extends string = string, Payload = Record<string, unknown>> {
  type: Type;
  /** Unique per sender. Replies name a command's id as `command_id`. */
  id: string;
  /** ISO 8601. Decoded timestamps always have seconds and a zone. */
  timestamp: string;
  payload: Payload;
}

const FIELDS: ReadonlySet<string> = new Set(['type', 'id', 'timestamp', 'payload']);
const PRINTABLE = /^[\x21-\x7e]+$/;
/** The extended format; seconds and zone are optional, as many languages omit them. */
const ISO_8601 =
  /^(?<minute>\d{4}-\d{2}-\d{2}T\d{2}:\d{2})(?::(?<second>\d{2})(?:[.,](?<fraction>\d{1,9}))?)?(?<zone>Z|[+-]\d{2}(?::?\d{2})?)?$/;

/**
 * Decodes a text frame into an envelope with an unchecked payload object. Throws only `FRAME_TOO_LARGE` or
 * `MALFORMED_ENVELOPE`, with `details.field` and `details.reason`.
 */
export function decodeEnvelope(text: string, frameSizeBytes: number = PROTOCOL_LIMITS.frameSizeBytes): Envelope {
  if (text.length > frameSizeBytes || Buffer.byteLength(text) > frameSizeBytes) {
    throw protocolErrors.FRAME_TOO_LARGE({ details: { limit_bytes: frameSizeBytes } });
  }
  const fields = parseObject(text);
  for (const name of Object.keys(fields)) {
    if (!FIELDS.has(name)) throw malformed(name.slice(0, 64), 'is not a field of an envelope');
  }
  return {
    type: parseText(fields, 'type', 64, PRINTABLE, 'must be 1 to 64 printable characters'),
    id: parseText(fields, 'id', 128, PRINTABLE, 'must be 1 to 128 printable characters'),
    timestamp: parseTimestamp(fields),
    payload: parsePayload(fields),
  };
}

/** Encodes an envelope as a text frame. Throws `FRAME_TOO_LARGE`; senders split or shorten before this. */
export function encodeEnvelope(
  envelope: Envelope<string, object>,
  frameSizeBytes: number = PROTOCOL_LIMITS.frameSizeBytes,
): string {
  const { type, id, timestamp, payload } = envelope;
  const text = JSON.stringify({ type, id, timestamp, payload });
  if (Buffer.byteLength(text) > frameSizeBytes) {
    throw protocolErrors.FRAME_TOO_LARGE({ details: { limit_bytes: frameSizeBytes } });
  }
  return text;
}

function parseObject(text: string): Record<string, unknown> {
  if (nestsDeeperThan(text, PROTOCOL_LIMITS.jsonDepth)) {
    throw malformed('', `nests deeper than ${PROTOCOL_LIMITS.jsonDepth} levels`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    // The parser's message quotes the text, which may contain a secret, so it is only the cause.
    throw protocolErrors.MALFORMED_ENVELOPE({ details: { field: '', reason: 'is not JSON' }, cause });
  }
  if (!isObject(value)) throw malformed('', 'must be a JSON object');
  return value;
}

function parseText(fields: Record<string, unknown>, name: string, limit: number, shape: RegExp, rule: string): string {
  const value = fields[name];
  if (value === undefined) throw malformed(name, 'is missing');
  if (typeof value !== 'string' || value.length > limit || !shape.test(value)) throw malformed(name, rule);
  return value;
}

function parseTimestamp(fields: Record<string, unknown>): string {
  const value = parseText(fields, 'timestamp', 64, ISO_8601, 'must be a date and time in ISO 8601');
  const { minute = '', second = '00', fraction, zone = 'Z' } = ISO_8601.exec(value)?.groups ?? {};
  // Without a zone, assume UTC, as in the contract, independent of the machine.
  const offset = zone === 'Z' ? zone : `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}`;
  const timestamp = `${minute}:${second}${fraction === undefined ? '' : `.${fraction}`}${offset}`;
  if (Number.isNaN(Date.parse(timestamp))) throw malformed('timestamp', 'is not a date of the calendar');
  return timestamp;
}

function parsePayload(fields: Record<string, unknown>): Record<string, unknown> {
  const value = fields['payload'];
  if (value === undefined) throw malformed('payload', 'is missing');
  if (!isObject(value)) throw malformed('payload', 'must be a JSON object');
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function malformed(field: string, rule: string): Error {
  const reason = field === '' ? rule : `${field} ${rule}`;
  return protocolErrors.MALFORMED_ENVELOPE({ details: { field, reason } });
}
