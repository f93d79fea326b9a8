import type { Sandbox } from '../sandbox.ts';
import { TRUST_ENVIRONMENT } from './install-authority.ts';

/** The environment of new processes: that of the sandbox, and what makes programs trust its authority if it has one. */
export function processEnvironment({
  environment,
  egressRules,
}: Pick<Sandbox, 'environment' | 'egressRules'>): Readonly<Record<string, string>> {
  return egressRules.length === 0 ? environment : { ...TRUST_ENVIRONMENT, ...environment };
}
