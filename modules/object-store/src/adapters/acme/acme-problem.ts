import { storeErrors } from '../../errors.ts';

const PREFIX = 'urn:ietf:params:acme:error:';

/** Our words for the errors of RFC 8555, section 6.7, that the owner of a domain can do something about. */
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

/** RFC 9457: what an error answer, a challenge or an order carries. */
export function readProblem(value: unknown): AcmeProblem {
  const { type, detail } = (value ?? {}) as { type?: unknown; detail?: unknown }; // looked at below
  return {
    type: typeof type === 'string' ? type.replace(PREFIX, '') : 'unknown',
    detail: typeof detail === 'string' ? detail.slice(0, 300) : 'it gave no reason',
  };
}

export function refused(problem: AcmeProblem): Error {
  const known = Object.hasOwn(PROBLEMS, problem.type) ? PROBLEMS[problem.type] : undefined;
  return storeErrors.CertificateRefused({ details: { reason: problem.detail, problem: known ?? 'issuance_failed' } });
}
