import { storeErrors } from '../../errors.ts';

const PREFIX = 'urn:ietf:params:acme:error:';

/** Our codes for the errors of RFC 8555, section 6.7, that a domain's owner can fix. */
const PROBLEMS: Readonly<Record<string, string>> = {
  caa: 'caa_refused',
  connection: 'challenge_unreachable',
  dns: 'authority_dns_failed',
  incorrectResponse: 'challenge_failed',
  rateLimited: 'rate_limited',
  rejectedIdentifier: 'hostname_rejected',
  unauthorized: 'challenge_failed',
};

export interface AcmeProblem {
  type: string;
  detail: string;
}

/** Reads an RFC 9457 problem from an error response, a challenge or an order. */
export function readProblem(value: unknown): AcmeProblem {
  const { type, detail } = (value ?? {}) as { type?: unknown; detail?: unknown }; // unvalidated; checked below
  return {
    type: typeof type === 'string' ? type.replace(PREFIX, '') : 'unknown',
    detail: typeof detail === 'string' ? detail.slice(0, 300) : 'it gave no reason',
  };
}

export function refused(problem: AcmeProblem): Error {
  const known = Object.hasOwn(PROBLEMS, problem.type) ? PROBLEMS[problem.type] : undefined;
  return storeErrors.CertificateRefused({ details: { reason: problem.detail, problem: known ?? 'issuance_failed' } });
}
