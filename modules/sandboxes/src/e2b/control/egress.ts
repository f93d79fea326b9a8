import { type Static, Type } from 'typebox';
import { isIPv6 } from 'node:net';
import { ANY_NAME, deniedRanges, everythingExcept } from '../../domain/egress-hosts.ts';
import { egressRange } from '../../domain/egress-ranges.ts';
import { sandboxErrors } from '../../errors.ts';
import { egressTargets } from '../../routes/create-request.ts';

const ALL_TRAFFIC = '0.0.0.0/0';
export const targetsSchema = Type.Optional(
  Type.Union([Type.Array(Type.String({ maxLength: 255 }), { maxItems: 100 }), Type.Null()]),
);

export const egressSchema = Type.Object({
  allowOut: targetsSchema,
  denyOut: targetsSchema,
  allow_internet_access: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
});

/**
 * The allowlist for what a client allows and denies; null if it denies nothing. What is allowed comes before what is
 * denied. Sandboxes have no IPv6, so that a denied IPv6 range changes nothing.
 */
export function egressOf(
  { allowOut, denyOut, allow_internet_access: isOpen }: Static<typeof egressSchema>,
  path: string,
): string[] | null {
  const allowed = egressTargets(allowOut ?? [], `${path}allowOut`);
  const denied = (denyOut ?? []).flatMap((each, index) => {
    const range = egressRange(each);
    if (range !== null) return [range];
    if (isIPv6(each.split('/', 1)[0] ?? '')) return [];
    const reason = 'is not an IP address or range';
    throw sandboxErrors.INVALID_FIELD({ details: { field: `${path}denyOut[${index}]`, reason } });
  });
  if (isOpen === false) denied.push(ALL_TRAFFIC);
  if (denied.length === 0 || allowed.includes(ALL_TRAFFIC)) return null;
  return [...new Set([...everythingExcept(denied), ...allowed])];
}

/** The reverse of `egressOf`, as clients see it. */
export function toEgressView(allow: readonly string[] | null): { allowOut?: string[]; denyOut?: string[] } {
  if (allow === null) return {};
  if (!allow.includes(ANY_NAME)) return { allowOut: [...allow], denyOut: [ALL_TRAFFIC] };
  const denyOut = deniedRanges(allow);
  const allowOut = allow.filter((each) => each !== ANY_NAME && !each.includes('/'));
  return { ...(allowOut.length === 0 ? {} : { allowOut }), ...(denyOut.length === 0 ? {} : { denyOut }) };
}
