import { createSecretKey } from 'node:crypto';
import type { CredentialRef, GrantedAccess } from '@svc/access';
import { migrations } from '@svc/migrations';
import { systemRandom } from '@svc/runtime';
import { describeDialects, fakeClock } from '@svc/testing';
import { expect, it } from 'vitest';
import { SandboxAccess } from '../domain/access/sandbox-access.ts';
import type { Sandbox } from '../domain/sandbox.ts';
import { createSandboxAccessRepository } from './access-repository.ts';
import { createSandboxRepository } from './sandbox-repository.ts';
import type { SandboxTables } from './tables.ts';

const AT = '2026-01-01T00:00:00.000Z';
const [ONE, OTHER] = ['sbx_aaaaaaaaaaaaaaaaaaaaaaaaaa', 'sbx_bbbbbbbbbbbbbbbbbbbbbbbbbb'] as const;

function granted(credential: Partial<CredentialRef> = {}): GrantedAccess {
  const ref = {
    principalKind: 'service_account',
    principalId: 'p',
    credential: 'service_account',
    credentialId: 'c',
  } as const;
  const grant = { workspaceUuid: 'w', role: 'service_account', teamUuid: null } as const;
  return { credential: { ...ref, shownAt: AT, ...credential }, action: 'sandbox:create', grant };
}

function sandbox(id: string): Sandbox {
  return {
    id,
    workspaceUuid: 'w',
    ownerId: 'o',
    node: 'n',
    driver: 'd',
    name: id.slice(-8),
    image: 'busybox',
    snapshotId: null,
    status: 'running',
    stateReason: null,
    fault: null,
    environment: {},
    labels: {},
    resources: { cpuMillis: 1000, memoryMb: 64, diskMb: 64, pids: 64 },
    network: 'none',
    egressAllow: null,
    egressRules: [],
    template: null,
    isolation: 'namespaces',
    volumes: [],
    mounts: [],
    cluster: null,
    idleTimeoutSeconds: null,
    expiresAt: null,
    onDrain: 'stop',
    onNodeLost: 'wait',
    onExpiry: 'delete',
    resumeSeconds: null,
    requestHost: null,
    createdAt: AT,
    startedAt: AT,
    lastActivityAt: AT,
    removedAt: null,
    pausedAt: null,
  };
}

describeDialects<SandboxTables>('tokens of sandboxes', migrations, (database) => {
  const access = (fill = 7) =>
    new SandboxAccess({
      repository: createSandboxAccessRepository(database().kysely),
      key: async () => createSecretKey(Buffer.alloc(32, fill)),
      clock: fakeClock(AT),
      random: systemRandom,
    });
  const addSandboxes = async () => {
    const repository = createSandboxRepository(database().kysely, { clock: fakeClock(AT) });
    const limits = { workspaceUuid: 'w', ownerId: 'o', ownerWorkspaces: ['w'], workspace: {}, owner: {} };
    for (const id of [ONE, OTHER]) {
      await repository.insert(sandbox(id), { accountableId: 'o', callerLimit: null, limits }, null);
    }
    return repository;
  };

  it('are the same for a credential every time, on every node, and stand for what it was granted', async () => {
    await addSandboxes();
    const token = await access().issue(ONE, granted());
    expect(token).toMatch(/^svc_sba_[a-z2-7]{26}-[A-Za-z0-9_-]{43}$/);
    expect(await access().issue(ONE, granted({ shownAt: '2026-01-02T00:00:00.000Z' }))).toBe(token);
    expect(await access().check(ONE, token)).toEqual(granted());
    const others = [
      await access().issue(ONE, granted({ credentialId: 'other' })),
      await access().issue(OTHER, granted()),
    ];
    expect(new Set([token, ...others]).size).toBe(3);
  });

  it('of one sign-in at an external issuer are one, however often it is shown', async () => {
    await addSandboxes();
    const signedIn = (confirmedAt: string, shownAt: string) =>
      access().issue(ONE, granted({ credential: 'oidc', credentialId: null, confirmedAt, shownAt }));
    const token = await signedIn(AT, AT);
    expect(await signedIn(AT, '2026-01-02T00:00:00.000Z')).toBe(token);
    expect(await signedIn('2026-01-03T00:00:00.000Z', AT)).not.toBe(token);
  });

  it('work for no other sandbox and with no other key, whether it exists or not', async () => {
    await addSandboxes();
    const token = await access().issue(ONE, granted());
    const refused = { code: 'SANDBOX_TOKEN_INVALID', status: 401 };
    await expect(access().check(OTHER, token)).rejects.toMatchObject(refused);
    await expect(access().check('sbx_cccccccccccccccccccccccccc', token)).rejects.toMatchObject(refused);
    await expect(access(8).check(ONE, token)).rejects.toMatchObject(refused);
    for (const given of ['', 'svc_sba_', `${token}x`, token.slice(0, -1), token.toUpperCase()]) {
      await expect(access().check(ONE, given)).rejects.toMatchObject(refused);
    }
  });

  it('stay valid when their sandbox is gone, so that the holder learns it', async () => {
    const repository = await addSandboxes();
    const token = await access().issue(ONE, granted());
    await repository.remove(ONE, AT);
    await repository.purge(ONE);
    expect(await access().check(ONE, token)).toBeNull();
  });

  it('are found among all running sandboxes by what is derived from them', async () => {
    const repository = await addSandboxes();
    const token = await access().issue(OTHER, granted());
    for (let index = 0; index < 600; index += 1) await access().issue(ONE, granted({ credentialId: `c${index}` }));
    const isWanted = (each: string): boolean => each === token;
    expect(await access().find(null, isWanted)).toMatchObject({ subjectId: OTHER, granted: granted() });
    expect(await access().find(OTHER, isWanted)).toMatchObject({ subjectId: OTHER });
    expect(await access().find(ONE, isWanted)).toBeNull();
    await repository.change(OTHER, ['running'], { status: 'stopped' });
    expect(await access().find(null, isWanted)).toBeNull();
  });
});
