import { createMaker, type Principal } from '@svc/access';
import type { KeyMaker } from '../domain/ports/records.ts';

/** Makes the principal the creator of a key. The creator's rights limit the key from then on. */
export function createKeyMaker(principal: Principal): KeyMaker {
  return { ...createMaker(principal), kind: principal.kind, name: principal.name };
}
