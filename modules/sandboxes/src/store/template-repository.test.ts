import { migrations } from '@svc/migrations';
import type { Limits } from '@svc/quotas';
import { describeDialects } from '@svc/testing';
import { expect, it } from 'vitest';
import type { LogLine, Template, TemplateBuild, TemplateLayer } from '../domain/templates/template.ts';
import type { SandboxTables } from './tables.ts';
import { createTemplateRepository } from './template-repository.ts';

const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
const place = { step: null, line: null, unknownUser: null };

function limits(workspace: Limits['workspace'] = {}): Limits {
  return { workspaceUuid: 'w', ownerId: 'o', ownerWorkspaces: ['w'], workspace, owner: {} };
}

function template(name: string): Template {
  return { id: `tpl_${name}`, workspaceUuid: 'w', name, ownerId: 'o', createdAt: at(0) };
}

function build(id: string, second: number, changes: Partial<TemplateBuild> = {}): TemplateBuild {
  return {
    id,
    templateId: 'tpl_a',
    workspaceUuid: 'w',
    ownerId: 'o',
    node: 'n',
    status: 'waiting',
    tags: ['latest'],
    failure: null,
    resources: { cpuMillis: 500, memoryMb: 64, diskMb: 128, pids: 32 },
    outcome: null,
    layerId: null,
    digest: null,
    createdAt: at(second),
    startedAt: null,
    finishedAt: null,
    archivedAt: null,
    archiveError: null,
    ...changes,
  };
}

function layer(id: string, cacheKey: string, sizeBytes = 1): TemplateLayer {
  return { id, workspaceUuid: 'w', node: 'n', cacheKey, digest: `built-${id}`, sizeBytes, createdAt: at(0) };
}

const outcome = {
  user: null,
  workingFolder: '/',
  startCommand: ['true'],
  readyCommand: null,
  ports: [80],
  cachedSteps: 0,
  steps: 1,
};

describeDialects<SandboxTables>('TemplateRepository', migrations, (database) => {
  const repository = () => createTemplateRepository(database().kysely);

  it('keeps one template of a name, also for concurrent builds, and counts it against the quota', async () => {
    const made = await Promise.all(
      ['1', '2', '3'].map((id) => repository().ensure({ ...template('a'), id }, limits({ templates: 1 }))),
    );
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    await expect(repository().ensure(template('b'), limits({ templates: 1 }))).rejects.toMatchObject({
      code: 'QUOTA_EXCEEDED',
    });
    await repository().ensure(template('b'), limits());
    expect((await repository().list('w', { limit: 5, after: 'a' })).map(({ name }) => name)).toEqual(['b']);
    expect(await repository().find('other', 'b')).toBeNull();
    expect(await repository().remove('tpl_b')).toBe(true);
    expect(await repository().remove('tpl_b')).toBe(false);
    expect(await repository().count('w')).toBe(1);
  });

  it('counts builds that wait or are under way against the quotas, until they end', async () => {
    await repository().ensure(template('a'), limits());
    const few = limits({ template_builds: 2 });
    const made = await Promise.allSettled(
      ['1', '2', '3', '4'].map((id) => repository().insertBuild(build(id, 1), few)),
    );
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    const [one, other] = await repository().builds('tpl_a', 4);
    expect(await repository().startBuild(one?.id ?? '', at(2))).toBe(true);
    const breach = { code: 'QUOTA_EXCEEDED', details: { quota: 'template_builds', scope: 'workspace', current: 2 } };
    await expect(repository().insertBuild(build('5', 3), few)).rejects.toMatchObject(breach);
    const ofOwner = { ...limits(), owner: { template_builds: 2 } };
    await expect(repository().insertBuild(build('5', 3), ofOwner)).rejects.toMatchObject({
      details: { scope: 'owner' },
    });
    const elsewhere = { ...few, workspaceUuid: 'v', ownerId: 'p', ownerWorkspaces: ['v'] };
    await repository().insertBuild(build('6', 3, { workspaceUuid: 'v', ownerId: 'p' }), elsewhere);
    await repository().failBuild(other?.id ?? '', { message: 'cancelled', ...place }, at(4));
    await repository().insertBuild(build('5', 5), few);
  });

  it('moves tags to a finished build, not to a failed one, and lets a build end once', async () => {
    await repository().ensure(template('a'), limits());
    for (const [index, id] of ['one', 'two', 'three'].entries())
      await repository().insertBuild(build(id, index), limits());
    expect(await repository().startBuild('one', at(1))).toBe(true);
    expect(await repository().startBuild('one', at(1))).toBe(false);
    const result = { outcome, layerId: 'l', digest: 'd' };
    expect(await repository().finishBuild('two', result, at(2))).toBe(false); // not started
    expect(await repository().finishBuild('one', result, at(2))).toBe(true);
    await repository().startBuild('two', at(3));
    await repository().failBuild('two', { ...place, message: 'no' }, at(4));
    await repository().failBuild('one', { ...place, message: 'no' }, at(4));
    expect(await repository().findBuild('one')).toMatchObject({ status: 'ready', outcome, failure: null, digest: 'd' });
    expect(await repository().findBuild('two')).toMatchObject({ status: 'error', failure: { message: 'no' } });
    expect(await repository().findTag('tpl_a', 'latest')).toMatchObject({ buildId: 'one' });
    await repository().startBuild('three', at(5));
    await repository().finishBuild('three', result, at(6));
    expect(await repository().tags('tpl_a')).toMatchObject([{ tag: 'latest', buildId: 'three' }]);
    expect((await repository().untagged('n', at(9))).map(({ id }) => id)).toEqual(['one']);
    expect(await repository().assignTags('tpl_a', 'one', ['v1', 'v1'], at(7))).toBe(true);
    expect(await repository().untagged('n', at(9))).toEqual([]);
    expect(await repository().removeTags('tpl_a', ['v1', 'none'])).toBe(1);
    await repository().pruneBuilds('tpl_a', 1);
    expect((await repository().builds('tpl_a', 9)).map(({ id }) => id)).toEqual(['three', 'two']);
  });

  it('finds the newest layer of a key, counts layers as disk, and collects what nothing needs', async () => {
    const big = 5_000_000_000;
    await repository().insertLayer(layer('old', 'key', big), limits());
    await repository().insertLayer({ ...layer('new', 'key'), createdAt: at(1) }, limits());
    await repository().insertLayer(layer('kept', 'build one'), limits());
    await repository().insertLayer(layer('gone', 'build two'), limits());
    expect(await repository().findLayer('w', 'n', 'key', at(5))).toMatchObject({ id: 'new' });
    expect(await repository().findLayer('other', 'n', 'key', at(5))).toBeNull();
    expect(await repository().findLayer('w', 'other', 'key', at(5))).toBeNull();
    await expect(repository().insertLayer(layer('x', 'y'), limits({ sandbox_disk: 4000 }))).rejects.toMatchObject({
      code: 'QUOTA_EXCEEDED',
    });
    await repository().ensure(template('a'), limits());
    await repository().insertBuild(build('one', 1, { status: 'ready', layerId: 'kept', digest: 'd' }), limits());
    const unused = async (before: string) => (await repository().unusedLayers('n', before)).map(({ id }) => id);
    expect((await unused(at(3))).toSorted()).toEqual(['gone', 'old']);
    await repository().removeLayer('old');
    expect(await repository().layerIds('n')).toEqual(new Set(['new', 'kept', 'gone']));
    await repository().assignTags('tpl_a', 'one', ['v1'], at(2));
    await repository().forgetImage('one'); // it has got a tag since it was found to have none
    expect(await repository().findBuild('one')).toMatchObject({ layerId: 'kept', digest: 'd' });
    await repository().removeTags('tpl_a', ['v1']);
    await repository().forgetImage('one');
    expect(await unused(at(3))).toContain('kept');
    expect(await repository().assignTags('tpl_a', 'one', ['v1'], at(4))).toBe(false);
    expect(await repository().tags('tpl_a')).toEqual([]);
  });

  it('keeps the log of a build in order, and drops it with the template', async () => {
    await repository().ensure(template('a'), limits());
    await repository().insertBuild(build('one', 1), limits());
    const line = (sequence: number): LogLine => ({
      sequence,
      at: at(sequence),
      level: 'info',
      step: null,
      message: `line ${sequence}`,
    });
    await repository().appendLog('one', [line(0), line(1)]);
    await repository().appendLog('one', [line(2)]);
    expect((await repository().log('one', 1, 5)).map(({ message }) => message)).toEqual(['line 1', 'line 2']);
    expect(await repository().logSince('one', at(2), 5)).toEqual([line(2)]);
    await repository().remove('tpl_a');
    await repository().appendLog('one', [line(3)]);
    expect(await repository().log('one', 0, 5)).toEqual([]);
    expect(await repository().findBuild('one')).toBeNull();
  });
});
