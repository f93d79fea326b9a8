import { REDACTED } from './redact.ts';

/** Names of fields whose value never reaches a log, in lower case without `-` and `_`. */
const SECRET_FIELDS: ReadonlySet<string> = new Set([
  'authorization',
  'proxyauthorization',
  'cookie',
  'cookies',
  'setcookie',
  'password',
  'currentpassword',
  'newpassword',
  'passwordhash',
  'secret',
  'clientsecret',
  'secretaccesskey',
  'token',
  'accesstoken',
  'refreshtoken',
  'idtoken',
  'agenttoken',
  'csrftoken',
  'xcsrftoken',
  'ticket',
  'apikey',
  'privatekey',
  'masterkey',
  'secwebsocketprotocol', // carries `bearer.<token>` for browsers, which cannot set a header
  'xamzsecuritytoken',
]);

const MAX_DEPTH = 8;
const MAX_CAUSES = 6;
/** Objects and lists in one line; an object graph that refers to itself many times over would never end otherwise. */
const MAX_NODES = 500;
const MAX_LIST_ITEMS = 100;
const CUT = '…';

/** How much of the line's budget is left; shared by all branches of one walk. */
interface Walk {
  nodesLeft: number;
}

/**
 * A copy for a log: fields with secret names are censored at any depth, errors become plain objects with their chain of
 * causes, and what is too deep, too long or too wide is cut. Other class instances are left to their own `toJSON`.
 */
export function redactFields(fields: Record<string, unknown>): Record<string, unknown> {
  return copyFields(fields, 0, { nodesLeft: MAX_NODES });
}

/** The shape in which an error stands in a log: type, message, code, stack, its own fields, and the causes below it. */
export function describeError(error: Error): Record<string, unknown> {
  return copyError(error, 0, { nodesLeft: MAX_NODES }, 0);
}

function copyFields(fields: object, depth: number, walk: Walk): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    copy[name] = isSecretField(name) && hides(value) ? REDACTED : copyValue(value, depth + 1, walk);
  }
  return copy;
}

function copyValue(value: unknown, depth: number, walk: Walk): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const isError = value instanceof Error;
  if (!isError && !Array.isArray(value) && !isPlain(value)) return value;
  if (depth > MAX_DEPTH || walk.nodesLeft-- <= 0) return CUT;
  if (isError) return copyError(value, depth, walk, 0);
  if (Array.isArray(value)) return value.slice(0, MAX_LIST_ITEMS).map((item) => copyValue(item, depth + 1, walk));
  return copyFields(value, depth, walk);
}

function copyError(error: Error, depth: number, walk: Walk, causes: number): Record<string, unknown> {
  const described: Record<string, unknown> = {
    ...copyFields(error, depth, walk),
    type: error.constructor.name,
    message: error.message,
    stack: error.stack,
  };
  // The list of an `AggregateError` is not enumerable.
  if (error instanceof AggregateError) described['errors'] = copyValue(error.errors, depth + 1, walk);
  if (error.cause instanceof Error) {
    described['cause'] = causes < MAX_CAUSES ? copyError(error.cause, depth, walk, causes + 1) : CUT;
  } else if (error.cause !== undefined) described['cause'] = copyValue(error.cause, depth + 1, walk);
  return described;
}

/** Nothing to hide in an absent value or a flag; that it is absent helps whoever reads. */
function hides(value: unknown): boolean {
  return value !== null && value !== undefined && typeof value !== 'boolean' && value !== '';
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function isSecretField(name: string): boolean {
  return SECRET_FIELDS.has(name.toLowerCase().replaceAll(/[-_]/g, ''));
}
