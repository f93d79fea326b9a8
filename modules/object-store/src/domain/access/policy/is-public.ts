import type { Condition } from './conditions.ts';
import { parseRange } from './comparisons.ts';
import type { PolicyStatement } from './policy.ts';

/**
 * Keys that bind a statement to known callers if their values are fixed. From "The meaning of public" in AWS's guide.
 */
const BINDING_KEYS: ReadonlySet<string> = new Set([
  'aws:sourceip',
  'aws:sourcearn',
  'aws:sourcevpc',
  'aws:sourcevpce',
  'aws:sourceowner',
  'aws:sourceaccount',
  'aws:userid',
  'aws:principalaccount',
  'aws:principalarn',
  'aws:principalorgid',
  'aws:principalorgpaths',
  's3:dataaccesspointarn',
  's3:dataaccesspointaccount',
  's3:x-amz-server-side-encryption-aws-kms-key-id',
]);

const BINDING_OPERATORS: ReadonlySet<string> = new Set([
  'StringEquals',
  'StringEqualsIgnoreCase',
  'StringLike',
  'ArnEquals',
  'ArnLike',
  'IpAddress',
]);

/** A statement is public if it allows everyone and no condition binds it to fixed values. */
export function isPublicStatement({ effect, principals, conditions }: PolicyStatement): boolean {
  return effect === 'Allow' && principals.everybody && !conditions.some(binds);
}

function binds({ key, operator, values, ifExists }: Condition): boolean {
  if (ifExists || !BINDING_KEYS.has(key) || !BINDING_OPERATORS.has(operator)) return false;
  if (key === 'aws:sourceip') return operator === 'IpAddress' && values.every(isNarrowRange);
  return values.every((value) => !/[*?]|\$\{/.test(value));
}

/** Ranges that cover most of the world do not restrict access: IPv4 needs at least /8, IPv6 at least /32. */
function isNarrowRange(text: string): boolean {
  const range = parseRange(text);
  return range !== null && range.bits >= (range.version === 4 ? 8 : 32);
}
