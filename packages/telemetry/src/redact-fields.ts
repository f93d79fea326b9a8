import { REDACTED } from './redact.ts';

/** Names of fields whose value is never logged, in lower case without `-` and `_`. */
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
/** Maximum objects and lists per line; bounds an object graph with many internal references. */
const MAX_NODES = 500;
const MAX_LIST_ITEMS = 100;
const CUT = '…';

/** Remaining budget of the line, shared by all branches of one walk. */
interface Walk {
  nodesLeft: number;
}

/**
 * Returns a copy for logging: redacts fields with secret names at any depth, converts errors to plain objects with
 * their causes, and truncates what is too deep, long or wide. Other class instances keep their own `toJSON`.
 */
export function redactFields(fields: Record<string, unknown>): Record<string, unknown> {
  return copyFields(fields, 0, { nodesLeft: MAX_NODES });
}

/** Converts an error for logging: type, message, code, stack, its own fields, and its causes. */
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

/** Absent values and booleans hide nothing; seeing that a secret is absent helps the reader. */
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
