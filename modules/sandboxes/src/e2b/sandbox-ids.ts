import { isSandboxId } from '../domain/identifiers.ts';

const PREFIX = 'sbx_';

/** E2B clients build hostnames from ids, where an underscore is not allowed: the prefix is left out. */
export function toE2bId(sandboxId: string): string {
  return sandboxId.slice(PREFIX.length);
}

/** Accepts the id with and without its prefix; null if it is neither. */
export function fromE2bId(id: string): string | null {
  const whole = id.startsWith(PREFIX) ? id : `${PREFIX}${id}`;
  return isSandboxId(whole) ? whole : null;
}
