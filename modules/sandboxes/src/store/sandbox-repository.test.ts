import type { GrantedAccess } from '@svc/access';
import { migrations } from '@svc/migrations';
import { isAppError } from '@svc/errors';
import { describeDialects, fakeClock } from '@svc/testing';
import type { Limits } from '@svc/quotas';
import { expect, it } from 'vitest';
import type { Admission } from '../domain/admission.ts';
import type { SandboxFilter, SandboxPage } from '../domain/ports.ts';
import type { Sandbox } from '../domain/sandbox.ts';
import { sandboxQuotas } from '../quotas.ts';
import { createSandboxRepository } from './sandbox-repository.ts';
import type { SandboxTables } from './tables.ts';
import { createTicketRepository } from './ticket-repository.ts';

const AT = '2026-01-01T00:00:00.000Z';

function sandbox(changes: Partial<Sandbox>): Sandbox {
  return {
    id: 'sbx_a',
    workspaceUuid: 'w',
    ownerId: 'o',
    node: 'n',
    driver: 'd',
    name: 'name',
    image: 'busybox',
    snapshotId: null,
    status: 'creating',
    stateReason: null,
    fault: null,
    environment: { A: 'ü' },
    labels: { k: 'v' },
    resources: { cpuMillis: 1500, memoryMb: 1, diskMb: 2, pids: 3 },
    network: 'none',
    egressAllow: ['example.com'],
    template: null,
    egressRules: [
      { host: 'a.example', header: 'x-key', query: null, secret: 'KEY', template: '{value}', insecure: false },
    ],
    isolation: 'namespaces',
    volumes: [],
    mounts: [],
    cluster: null,
    idleTimeoutSeconds: null,
    expiresAt: null,
    onDrain: 'snapshot',
    onNodeLost: 'restore',
    onExpiry: 'delete',
    resumeSeconds: null,
    requestHost: null,
    createdAt: AT,
    startedAt: null,
    lastActivityAt: AT,
    removedAt: null,
    pausedAt: null,
    ...changes,
  };
}

function admission(callerLimit: number | null, accountableId = 'o', limits: Partial<Limits> = {}): Admission {
  const held = { workspaceUuid: 'w', ownerId: 'o', ownerWorkspaces: ['v', 'w'], workspace: {}, owner: {}, ...limits };
  return { accountableId, callerLimit, limits: held };
}

describeDialects<SandboxTables>('SandboxRepository', migrations, (database) => {
  const repository = () => createSandboxRepository(database().kysely, { clock: fakeClock(AT) });

  it('returns an inserted record', async () => {
    const wanted = sandbox({ fault: { code: 'DISK_FULL', message: 'm', recoverable: true }, expiresAt: AT });
    expect(await repository().insert(wanted, admission(1), null)).toEqual({ outcome: 'inserted' });
    expect(await repository().find('sbx_a')).toEqual(wanted);
  });

  it('knows whether a sandbox that is not deleted mounts a bucket of the workspace', async () => {
    const maker = { principalId: 'p', tokenId: null };
    const mount = { bucket: 'photos', bucketId: 71, prefix: '', path: '/data', readOnly: false, maker };
    const forked = { path: '/fork', readOnly: true, prefix: '', maker, forkedFrom: 'x', bucket: 'y', bucketId: 5 };
    await repository().insert(sandbox({ mounts: [mount, forked] }), admission(null), null);
    expect((await repository().find('sbx_a'))?.mounts).toEqual([mount, forked]);
    const mounts = (bucketId: number, workspaceUuid = 'w') => repository().mountsBucket(workspaceUuid, bucketId);
    expect([await mounts(71), await mounts(5), await mounts(7), await mounts(1)]).toEqual([true, true, false, false]);
    expect(await mounts(71, 'v')).toBe(false);
    await repository().remove('sbx_a', AT);
    expect(await mounts(71)).toBe(false);
  });

  it('lists by phase, image, start and expiry, in both orders', async () => {
    const at = (seconds: number): string => `2026-01-01T00:00:0${seconds}.000Z`;
    const records: Partial<Sandbox>[] = [
      { id: 'sbx_creating' },
      { id: 'sbx_running', status: 'running', startedAt: at(5), expiresAt: at(6) },
      { id: 'sbx_paused', status: 'running', startedAt: at(6), pausedAt: at(7) },
      { id: 'sbx_stopped', status: 'stopped', image: 'debian' },
      { id: 'sbx_failed', status: 'error' },
    ];
    for (const [index, changes] of records.entries()) {
      const wanted = sandbox({ name: String(index), createdAt: at(index), ...changes });
      await repository().insert(wanted, admission(null), null);
    }
    const list = async (filter: Partial<SandboxFilter>) => {
      const page = await repository().list('w', { labels: {}, pageSize: 10, cursor: null, ...filter });
      return page.sandboxes.map(({ id }) => id.slice('sbx_'.length));
    };
    expect(await list({ phases: ['active'] })).toEqual(['running', 'creating']);
    expect(await list({ phases: ['suspended'], oldestFirst: true })).toEqual(['paused', 'stopped']);
    expect(await list({ phases: ['active', 'suspended'] })).toEqual(['stopped', 'paused', 'running', 'creating']);
    expect(await list({ image: 'debian' })).toEqual(['stopped']);
    expect(await list({ startedSince: at(6) })).toEqual(['paused']);
    expect(await list({ phases: ['active'], asOf: at(6) })).toEqual(['creating']);
    expect(await list({ phases: ['active'], asOf: at(5) })).toEqual(['running', 'creating']);
    const kept = { id: 'sbx_kept', status: 'running', expiresAt: at(6), onExpiry: 'pause', createdAt: at(5) } as const;
    await repository().insert(sandbox({ ...kept, name: 'kept', resumeSeconds: 60 }), admission(null), null);
    expect(await repository().find('sbx_kept')).toMatchObject({ onExpiry: 'pause', resumeSeconds: 60 });
    expect(await list({ phases: ['active'], asOf: at(5) })).toEqual(['kept', 'running', 'creating']);
    expect(await list({ phases: ['active'], asOf: at(6) })).toEqual(['creating']);
    expect(await list({ phases: ['suspended'], asOf: at(6) })).toEqual(['kept', 'stopped', 'paused']);
    await repository().remove('sbx_kept', at(6));
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: SandboxPage = await repository().list('w', { labels: {}, pageSize: 2, cursor, oldestFirst: true });
      seen.push(...page.sandboxes.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(seen).toEqual(records.map(({ id }) => id));
  });

  it("enforces the caller's limit for concurrent inserts, and frees the slot on removal", async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        repository().insert(sandbox({ id: `sbx_${index}`, name: `n${index}` }), admission(2), null),
      ),
    );
    expect(outcomes.filter((each) => each.outcome === 'inserted')).toHaveLength(2);
    expect(outcomes).toContainEqual({ outcome: 'refused', refusal: { by: 'caller', current: 2 } });
    const [first] = (await repository().list('w', { labels: {}, pageSize: 10, cursor: null })).sandboxes;
    expect(await repository().remove(first?.id ?? '', AT)).toBe(true);
    expect(await repository().remove(first?.id ?? '', AT)).toBe(false);
    expect(await repository().insert(sandbox({ id: 'sbx_z', name: 'z' }), admission(2), null)).toEqual({
      outcome: 'inserted',
    });
  });

  it('requires unique names within a workspace, and does not count a refused insert', async () => {
    await repository().insert(sandbox({}), admission(2), null);
    expect(await repository().insert(sandbox({ id: 'sbx_b' }), admission(2), null)).toEqual({ outcome: 'name_taken' });
    const elsewhere = sandbox({ id: 'sbx_b', workspaceUuid: 'x' });
    expect(await repository().insert(elsewhere, admission(2), null)).toEqual({ outcome: 'inserted' });
  });

  it('accepts exactly one of several concurrent inserts with the same name', async () => {
    const outcomes = await Promise.allSettled(
      ['o1', 'o2', 'o3'].map((ownerId) =>
        repository().insert(sandbox({ id: `sbx_${ownerId}`, ownerId }), admission(5), null),
      ),
    );
    const won = outcomes.filter((each) => each.status === 'fulfilled' && each.value.outcome === 'inserted');
    expect(won).toHaveLength(1);
  });

  it('reports NAME_TAKEN for no other constraint', async () => {
    await repository().insert(sandbox({}), admission(5), null);
    const sameId = repository().insert(sandbox({ name: 'other' }), admission(5), null);
    await expect(sameId).rejects.toSatisfy((error) => !isAppError(error));
  });

  it('stores an idempotency key with its request', async () => {
    await repository().insert(sandbox({}), admission(5), { key: 'k', requestHash: 'h' });
    const again = (requestHash: string) =>
      repository().insert(sandbox({ id: 'sbx_b', name: 'b' }), admission(5), { key: 'k', requestHash });
    expect(await again('h')).toEqual({ outcome: 'repeated', sandboxId: 'sbx_a', sameRequest: true });
    expect(await again('other')).toEqual({ outcome: 'repeated', sandboxId: 'sbx_a', sameRequest: false });
    await repository().purgeRepeated('2027');
    expect(await again('h')).toEqual({ outcome: 'inserted' });
  });

  it('changes only records in an expected state', async () => {
    await repository().insert(sandbox({}), admission(5), null);
    expect(await repository().change('sbx_a', ['stopped'], { status: 'running' })).toBeNull();
    expect(await repository().change('sbx_a', ['creating'], { status: 'running', startedAt: AT })).toMatchObject({
      status: 'running',
      startedAt: AT,
    });
  });

  it('hides a removed record from everything but cleanup', async () => {
    await repository().insert(sandbox({}), admission(5), null);
    await repository().remove('sbx_a', AT);
    expect(await repository().find('sbx_a')).toBeNull();
    expect(await repository().change('sbx_a', ['creating'], { status: 'running' })).toBeNull();
    expect(await repository().removed('n')).toMatchObject([{ id: 'sbx_a', cluster: null }]);
    expect(await repository().removed('elsewhere')).toEqual([]);
    await repository().purge('sbx_a');
    expect(await repository().removed('n')).toEqual([]);
  });

  it('counts existing, running and paused sandboxes of a workspace', async () => {
    await repository().insert(sandbox({}), admission(5), null);
    await repository().insert(sandbox({ id: 'sbx_b', name: 'b' }), admission(5), null);
    await repository().change('sbx_b', ['creating'], { status: 'running' });
    await repository().insert(sandbox({ id: 'sbx_c', name: 'c' }), admission(5), null);
    await repository().change('sbx_c', ['creating'], { status: 'running' });
    await repository().change('sbx_c', ['running'], { pausedAt: AT });
    expect(await repository().ofWorkspace('w')).toBe(3);
    expect(await repository().ofWorkspace('w', 'running')).toBe(1);
    expect(await repository().ofWorkspace('w', 'paused')).toBe(1);
    expect(await repository().ofWorkspace('elsewhere')).toBe(0);
  });

  it('counts a record for its accountable principal, whoever created it', async () => {
    const by = (id: string) => repository().insert(sandbox({ id, name: id, ownerId: id }), admission(2, 'owner'), null);
    expect([await by('a'), await by('b'), await by('c')]).toEqual([
      { outcome: 'inserted' },
      { outcome: 'inserted' },
      { outcome: 'refused', refusal: { by: 'caller', current: 2 } },
    ]);
  });

  it('enforces a workspace quota for concurrent inserts from many callers', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, index) => {
        const draft = sandbox({ id: `sbx_${index}`, name: `n${index}`, ownerId: `o${index}` });
        return repository().insert(draft, admission(5, `o${index}`, { workspace: { sandboxes: 3 } }), null);
      }),
    );
    expect(outcomes.filter((each) => each.outcome === 'inserted')).toHaveLength(3);
    expect(outcomes).toContainEqual({
      outcome: 'refused',
      refusal: {
        by: 'quota',
        breach: { quota: sandboxQuotas.sandboxes, scope: 'workspace', limit: 3, used: 3, wanted: 1 },
      },
    });
  });

  it("enforces an owner's quota across workspaces for concurrent inserts", async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, index) => {
        const workspaceUuid = index % 2 === 0 ? 'v' : 'w';
        const draft = sandbox({ id: `sbx_${index}`, name: `n${index}`, workspaceUuid });
        const limits = { workspaceUuid, owner: { sandbox_cpus: 4.5 } };
        return repository().insert(draft, admission(null, 'o', limits), null);
      }),
    );
    expect(outcomes.filter((each) => each.outcome === 'inserted')).toHaveLength(3);
  });

  it('counts CPU and memory while a sandbox is active, and disk while it exists', async () => {
    const limits = { workspace: { sandbox_cpus: 1.5, sandbox_memory: 1, sandbox_disk: 4 } };
    const insert = (id: string) => repository().insert(sandbox({ id, name: id }), admission(null, 'o', limits), null);
    expect(await insert('sbx_a')).toEqual({ outcome: 'inserted' });
    expect(await insert('sbx_b')).toMatchObject({ refusal: { breach: { quota: { name: 'sandbox_cpus' } } } });
    await repository().change('sbx_a', ['creating'], { status: 'stopped' });
    expect(await insert('sbx_b')).toEqual({ outcome: 'inserted' });
    await repository().change('sbx_b', ['creating'], { status: 'stopped' });
    expect(await insert('sbx_c')).toMatchObject({ refusal: { breach: { quota: { name: 'sandbox_disk' } } } });
  });

  it('restarts only as many sandboxes concurrently as the CPU quota allows', async () => {
    for (const id of ['sbx_a', 'sbx_b', 'sbx_c']) {
      await repository().insert(sandbox({ id, name: id, status: 'stopped' }), admission(null), null);
    }
    const { limits } = admission(null, 'o', { workspace: { sandbox_cpus: 3 } });
    const outcomes = await Promise.all(
      ['sbx_a', 'sbx_b', 'sbx_c'].map((id) => repository().restart(id, ['stopped'], { status: 'creating' }, limits)),
    );
    expect(outcomes.filter((each) => 'breach' in each)).toHaveLength(1);
    const [again] = outcomes.flatMap((each) => ('sandbox' in each && each.sandbox !== null ? [each.sandbox.id] : []));
    expect(await repository().restart(again ?? '', ['stopped'], { status: 'creating' }, limits)).toEqual({
      sandbox: null,
    });
  });

  it('redeems a ticket once, and never after it expires', async () => {
    await repository().insert(sandbox({}), admission(5), null);
    const tickets = createTicketRepository(database().kysely);
    const granted: GrantedAccess = {
      credential: { principalKind: 'user', principalId: 'o', credential: 'jwt', credentialId: 's', shownAt: AT },
      action: 'sandbox:exec',
      grant: { workspaceUuid: 'w', role: 'owner', teamUuid: null },
    };
    const ticket = { sandboxId: 'sbx_a', granted, expiresAt: '2026-01-01T00:00:30.000Z' };
    await tickets.insert({ ...ticket, hash: 'one' });
    await tickets.insert({ ...ticket, hash: 'late' });
    expect(await tickets.take('one', AT)).toEqual({ sandboxId: 'sbx_a', granted });
    expect(await tickets.take('one', AT)).toBeNull();
    expect(await tickets.take('late', '2026-01-01T00:00:30.000Z')).toBeNull();
  });
});
