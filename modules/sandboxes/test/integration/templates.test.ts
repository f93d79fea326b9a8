import { createHash } from 'node:crypto';
import { waitFor, type FakeCaller } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BuildingDriver } from '../support/building-driver.ts';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type Answer, type TestPlatform } from '../support/platform.ts';

const FILES = Buffer.from('an archive');
const HASH = createHash('sha256').update(FILES).digest('hex');

/** Method, path, kind of access, body. A build is `:build`. */
const ROUTES = [
  ['GET', '', 'read', undefined],
  ['GET', '/tools', 'read', undefined],
  ['GET', '/tools/builds/:build', 'read', undefined],
  ['GET', '/tools/builds/:build/logs', 'read', undefined],
  ['GET', `/files/${HASH}`, 'read', undefined],
  ['PUT', `/files/${HASH}`, 'write', 'files'],
  ['POST', '/plan', 'write', { dockerfile: 'FROM busybox' }],
  ['POST', '/tools/builds', 'write', { from: 'busybox' }],
  ['POST', '/tools/builds/:build/cancel', 'write', undefined],
  ['PUT', '/tools/tags/other', 'write', { target: 'latest' }],
  ['DELETE', '/tools/tags/other', 'write', undefined],
  ['DELETE', '/tools', 'write', undefined],
] as const;

describe('templates', () => {
  const driver = new BuildingDriver();
  let platform: TestPlatform;
  let build: string;
  let stranger: FakeCaller;
  let guest: FakeCaller;
  let team: string;

  const post = (path: string, body: unknown, caller?: FakeCaller): Promise<Answer> =>
    platform.call('POST', path, { body, ...(caller && { caller }) });
  const ready = async (name: string, body: object): Promise<Answer['body']> => {
    const { status, body: started } = await post(`/api/templates/${name}/builds`, body);
    expect(status).toBe(202);
    const path = `/api/templates/${started['name']}/builds/${started['id']}`;
    return waitFor(async () => {
      const { body: now } = await platform.call('GET', path);
      return now['status'] !== 'building' && now;
    });
  };

  beforeAll(async () => {
    platform = await startPlatform({ driver });
    stranger = platform.access.user('stranger@example.org');
    guest = platform.access.user('guest@example.org');
    team = platform.access.team(platform.owner.workspaceUuid);
    platform.access.join(team, guest, 'guest');
    build = (await ready('tools', { from: 'busybox', tags: ['v1', 'latest'] }))['id'];
  });
  afterAll(async () => {
    await platform.dispose();
    await driver.dispose();
  });

  const call = (method: string, path: string, body: unknown, caller: FakeCaller | null, query = ''): Promise<Answer> =>
    platform.call(method, `/api/templates${path.replace(':build', build)}${query}`, {
      caller,
      ...(body === undefined ? {} : { body }),
    });

  describe.each(ROUTES)('%s %s', (method, path, kind, body) => {
    it('refuses callers without access, and lets a guest of the team only read', async () => {
      expect((await call(method, path, body, null)).status).toBe(401);
      const scope = `?workspace_uuid=${platform.owner.workspaceUuid}`;
      expect((await call(method, path, body, stranger, scope)).status).toBe(404);
      expect((await call(method, path, body, guest, `${scope}&team_uuid=${team}`)).status).toBe(
        kind === 'read' ? 200 : 403,
      );
    });
  });

  it('are invisible to other workspaces, also as a base and for sandboxes', async () => {
    for (const path of ['/tools', `/tools/builds/${build}`, `/tools/builds/${build}/logs`]) {
      expect((await call('GET', path, undefined, stranger)).status).toBe(404);
    }
    expect((await call('DELETE', '/tools', undefined, stranger)).status).toBe(404);
    for (const template of ['tools', 'tools:v1', build]) {
      expect(await post('/api/containers', { template }, stranger)).toMatchObject({
        status: 404,
        body: { code: 'TEMPLATE_NOT_FOUND' },
      });
    }
    const { body } = await post('/api/templates/mine/builds', { from: 'tools' }, stranger);
    const path = `/api/templates/mine/builds/${body['id']}`;
    await waitFor(async () => (await platform.call('GET', path, { caller: stranger })).body['status'] === 'error');
    await stored(platform, platform.owner);
    const present = (caller: FakeCaller) => platform.call('GET', `/api/templates/files/${HASH}`, { caller });
    expect((await present(platform.owner)).body).toMatchObject({ present: true });
    expect((await present(stranger)).body).toMatchObject({ present: false });
  });

  it('have names and tags; sandboxes start from the build of a tag', async () => {
    const second = await ready('tools:v2', { from: 'tools:v1', resources: { memory_mb: 64 } });
    expect(second).toMatchObject({ status: 'ready', tags: ['v2'], resources: { memory_mb: 64 } });
    const create = async (template: string): Promise<Answer['body']> =>
      (await post('/api/containers', { template })).body;
    expect(await create('tools')).toMatchObject({ image: 'tools:latest', template_build_id: build });
    expect(await create('tools:v2')).toMatchObject({ template_build_id: second['id'], resources: { memory_mb: 64 } });
    expect(await create(second['id'])).toMatchObject({ template_build_id: second['id'] });
    const tagged = await platform.call('PUT', '/api/templates/tools/tags/latest', { body: { target: 'v2' } });
    expect(tagged.body).toEqual({ tag: 'latest', build_id: second['id'] });
    expect(await create('tools')).toMatchObject({ template_build_id: second['id'] });
    expect((await platform.call('DELETE', '/api/templates/tools/tags/v2')).status).toBe(200);
    expect(await create('tools:v2')).toMatchObject({ code: 'TEMPLATE_NOT_FOUND' });
    const listed = (await platform.call('GET', '/api/templates')).body;
    expect(listed['templates']).toMatchObject([{ name: 'tools', tags: [{ tag: 'latest' }, { tag: 'v1' }] }]);
  });

  it.each([
    ['no source', {}, 'from'],
    ['two sources', { from: 'busybox', dockerfile: 'FROM busybox' }, 'dockerfile'],
    ['files that were not uploaded', { dockerfile: 'FROM busybox\nCOPY x /', files: ['0'.repeat(64)] }, 'files'],
    ['too few files', { dockerfile: 'FROM busybox\nCOPY x /' }, 'files'],
    ['a copy from nowhere', { from: 'busybox', steps: [{ copy: { sources: ['x'], destination: '/' } }] }, 'steps'],
    ['more memory than allowed', { from: 'busybox', resources: { memory_mb: 1_000_000 } }, 'resources.memory_mb'],
  ])('refuse a build with %s, naming the field, and leave no record', async (_what, body, field) => {
    expect(await post('/api/templates/bad/builds', body)).toMatchObject({ status: 400, body: { details: { field } } });
    expect((await platform.call('GET', '/api/templates/bad')).status).toBe(404);
  });

  it('refuse an instruction that is not supported, with its line, and names that are none', async () => {
    const dockerfile = 'FROM busybox\nADD x /';
    expect(await post('/api/templates/bad/builds', { dockerfile })).toMatchObject({
      status: 400,
      body: { code: 'DOCKERFILE_REFUSED', details: { line: 2 } },
    });
    expect((await post('/api/templates/Bad/builds', { from: 'busybox' })).body['details']).toMatchObject({
      field: 'name',
    });
    expect((await post('/api/templates/bad/builds', { from: 'busybox', tags: ['a b'] })).status).toBe(400);
    const both = { image: 'busybox', template: 'tools' };
    expect((await post('/api/containers', both)).body['details']).toMatchObject({ field: 'template' });
  });

  it('refuse files whose hash is another', async () => {
    const answer = await fetch(`${platform.url}/api/templates/files/${'0'.repeat(64)}`, {
      method: 'PUT',
      headers: { ...platform.owner.headers, 'content-type': 'application/x-tar' },
      body: new Uint8Array(FILES),
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: 'FILES_REFUSED' });
  });

  it('are refused by name by a driver that cannot build', async () => {
    const plain = new FakeDriver();
    const other = await startPlatform({ driver: plain });
    try {
      const answer = await other.call('POST', '/api/templates/x/builds', { body: { from: 'busybox' } });
      expect(answer).toMatchObject({ status: 501, body: { code: 'TEMPLATES_UNAVAILABLE' } });
      expect((await other.call('GET', '/api/templates')).body).toMatchObject({ count: 0 });
    } finally {
      await other.dispose();
      await plain.dispose();
    }
  });
});

async function stored(platform: TestPlatform, caller: FakeCaller): Promise<void> {
  const answer = await fetch(`${platform.url}/api/templates/files/${HASH}`, {
    method: 'PUT',
    headers: { ...caller.headers, 'content-type': 'application/x-tar' },
    body: new Uint8Array(FILES),
  });
  expect(answer.status).toBe(200);
}
