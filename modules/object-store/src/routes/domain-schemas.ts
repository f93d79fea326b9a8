import { Type, type TSchema } from 'typebox';
import { storeErrors } from '../errors.ts';

const hostname = Type.String({ minLength: 1, maxLength: 1_024, description: 'A fully qualified name' });

/** `domain` is the older name of `hostname`. */
export const hostnameBody = Type.Object(
  { hostname: Type.Optional(hostname), domain: Type.Optional(hostname) },
  { additionalProperties: false },
);

export const newDomainBody = Type.Object(
  {
    hostname: Type.Optional(hostname),
    domain: Type.Optional(hostname),
    bucket: Type.String({ minLength: 1, maxLength: 63 }),
  },
  { additionalProperties: false },
);

export function envelopeSchema<Data extends TSchema>(data: Data) {
  return Type.Object({ success: Type.Literal(true), message: Type.String(), data });
}

/** The hostname under either key. Throws `InvalidArgument` if the two differ. */
export function hostnameIn(body: { hostname?: string; domain?: string }): string {
  const { hostname: name, domain } = body;
  if (name !== undefined && domain !== undefined && name !== domain) {
    throw storeErrors.InvalidArgument({ details: { field: 'domain', reason: 'hostname and domain differ' } });
  }
  const given = name ?? domain;
  if (given !== undefined) return given;
  throw storeErrors.InvalidArgument({ details: { field: 'hostname', reason: 'hostname is required' } });
}

/** Reads a hostname for the audit log. A rejected body may have any shape. */
export function auditedHostname(value: unknown): string {
  const { hostname: name, domain } = (value ?? {}) as { hostname?: unknown; domain?: unknown }; // checked below
  const given = name ?? domain;
  return `domain/${typeof given === 'string' ? given.slice(0, 253) : 'unnamed'}`;
}
