import { createMaker, type Principal } from '@svc/http';
import type { KeyMaker } from '../domain/ports/records.ts';

/** The maker of a key that this principal creates, by whose rights the key is judged from then on. */
export function createKeyMaker(principal: Principal): KeyMaker {
  return { ...createMaker(principal), kind: principal.kind, name: principal.name };
}
