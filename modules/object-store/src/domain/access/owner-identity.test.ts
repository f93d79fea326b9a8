import { describe, expect, it } from 'vitest';
import { createOwner, workspaceOfOwnerId } from './owner-identity.ts';

const workspaceUuid = '3f0c8a52-9d1e-4b7a-8c33-5e2f1a6b7c8d';

describe('owner ids', () => {
  it('has 64 hexadecimal digits and maps back to its workspace', () => {
    const { id, displayName } = createOwner(workspaceUuid);
    expect(id).toMatch(/^[0-9a-f]{64}$/);
    expect(workspaceOfOwnerId(id)).toBe(workspaceUuid);
    expect(displayName).toBe(workspaceUuid);
  });

  it('rejects an id with a wrong digit, a wrong length or upper case', () => {
    const { id } = createOwner(workspaceUuid);
    const first = id.startsWith('0') ? '1' : '0';
    for (const wrong of [first + id.slice(1), id.slice(1), `${id}0`, id.toUpperCase(), workspaceUuid, '', '_foo']) {
      expect(workspaceOfOwnerId(wrong)).toBeNull();
    }
  });
});
