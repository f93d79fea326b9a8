import { AuthenticationError, Sandbox, Secret, SecretError, SecretNotFoundError } from 'e2b';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InjectingDriver } from '../support/injecting-driver.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

const HOST = 'api.example.com';

class Driver extends InjectingDriver {
  readonly limitsEgress = true;

  async changeEgress(): Promise<void> {
    // records tell what is allowed
  }
}

describe('secrets of E2B clients', () => {
  let driver: Driver;
  let platform: TestPlatform;
  const options = (caller = platform.owner) => ({
    apiUrl: `${platform.url}/e2b`,
    sandboxUrl: `${platform.url}/e2b/envd`,
    apiKey: caller.token,
    validateApiKey: false,
  });
  const rule = (value: string, header = 'Authorization') => ({
    [HOST]: [{ transform: { headers: { [header]: value } } }],
  });
  const create = (network: NonNullable<Parameters<typeof Sandbox.create>[1]>['network']) =>
    Sandbox.create('busybox', { ...options(), ...(network === undefined ? {} : { network }) });

  beforeEach(async () => {
    driver = new Driver();
    platform = await startPlatform({ driver });
  });
  afterEach(async () => {
    await platform.dispose();
    await driver.dispose();
  });

  it('are created, updated, listed and destroyed, by name and by identifier', async () => {
    const made = await Secret.create('OpenAI-Key', 'first', options());
    expect(made).toMatchObject({ name: 'openai-key', version: 1, metadata: {} });
    expect(made.secretId).toMatch(/^sec_/);
    expect(await Secret.update('OpenAI-Key', 'second', options())).toMatchObject({ version: 2 });
    expect(await Secret.getInfo(made.secretId, options())).toMatchObject({ name: 'openai-key', version: 2 });
    await platform.call('POST', '/api/secrets', { body: { name: 'MAPS_KEY', value: 'maps' } });
    expect(await Secret.exists('MAPS_KEY', options())).toBe(true);
    const pages = Secret.list({ ...options(), limit: 1 });
    const names: string[] = [];
    while (pages.hasNext) names.push(...(await pages.nextItems()).map(({ name }) => name));
    expect(names).toEqual(['MAPS_KEY', 'openai-key']);
    expect(await Secret.destroy('openai-key', options())).toBe(true);
    expect(await Secret.destroy('openai-key', options())).toBe(false);
    await expect(Secret.getInfo(made.secretId, options())).rejects.toThrow(SecretNotFoundError);
  });

  it('never come out', async () => {
    await Secret.create('key', 'a-very-secret-value', options());
    for (const path of ['/e2b/secrets', '/e2b/secrets/key']) {
      expect(JSON.stringify((await platform.call('GET', path)).body)).not.toContain('a-very-secret-value');
    }
  });

  it('refuse names, metadata and values that they cannot have', async () => {
    await Secret.create('key', 'first', options());
    await expect(Secret.create('KEY', 'second', options())).rejects.toThrow('already exists');
    await expect(Secret.create('1st', 'x', options())).rejects.toThrow('begin with a letter');
    await expect(Secret.create('sec_x', 'x', options())).rejects.toThrow('not with sec_');
    await expect(Secret.create('other', 'x', { ...options(), metadata: { a: 'b' } })).rejects.toThrow('Metadata');
    await expect(Secret.create('other', 'line\nline', options())).rejects.toThrow(SecretError);
  });

  it('belong to the workspace of the key, whose scopes apply', async () => {
    await Secret.create('key', 'first', options());
    const stranger = options(platform.access.user('stranger'));
    expect(await Secret.list(stranger).nextItems()).toEqual([]);
    await expect(Secret.update('key', 'x', stranger)).rejects.toThrow(SecretNotFoundError);
    expect(await Secret.destroy('key', stranger)).toBe(false);
    const reader = options(platform.access.serviceAccount(platform.owner.workspaceUuid, ['read']));
    expect(await Secret.exists('key', reader)).toBe(true);
    await expect(Secret.create('x', 'x', reader)).rejects.toThrow('permission');
    await expect(Secret.update('key', 'x', reader)).rejects.toThrow('permission');
    await expect(Secret.destroy('key', reader)).rejects.toThrow('permission');
    const nobody = { ...options(), apiKey: 'wrong' };
    await expect(Secret.getInfo('key', nobody)).rejects.toThrow(AuthenticationError);
    expect((await platform.call('GET', '/e2b/secrets', { caller: platform.access.guest() })).status).toBe(403);
  });

  it('are added to requests by the rules of a sandbox, which clients change and read', async () => {
    await Secret.create('OpenAI-Key', 'first', options());
    await platform.call('POST', '/api/secrets', { body: { name: 'MAPS_KEY', value: 'maps' } });
    const sandbox = await create({ rules: rule(`Bearer ${Secret.fill('OpenAI-Key')}`) });
    expect(driver.contents()).toEqual(['Bearer first']);
    const info = await sandbox.getInfo();
    expect(info.network?.rules).toEqual({
      [HOST]: [{ transform: { headers: { authorization: 'Bearer ${e2b.secrets.openai-key}' } } }],
    });
    await sandbox.updateNetwork({ rules: rule(Secret.fill('MAPS_KEY'), 'X-Key') });
    expect(driver.contents()).toEqual(['maps']);
    await sandbox.updateNetwork({});
    expect((await sandbox.getInfo()).network?.rules).toBeUndefined();
    expect(driver.applied.at(-1)?.[1]?.rules ?? []).toEqual([]);
  });

  it.each([
    ['a literal value', 'Bearer literal', 'literal value'],
    ['two placeholders', '${e2b.secrets.key}${e2b.secrets.key}', 'More than one placeholder'],
    ['an identity', '${e2b.identity.tokens.aws}', 'Workload identity'],
    ['an unknown secret', '${e2b.secrets.other}', 'does not exist'],
  ])('are not added by rules with %s', async (_what, value, message) => {
    await Secret.create('key', 'first', options());
    await expect(create({ rules: rule(value) })).rejects.toThrow(message);
    const sandbox = await create(undefined);
    await expect(sandbox.updateNetwork({ rules: rule(value) })).rejects.toThrow(message);
    expect((await platform.call('GET', '/api/sandboxes')).body['count']).toBe(1);
  });

  it('are not added to what is no hostname, by unknown transformations, or for guests', async () => {
    await Secret.create('key', 'first', options());
    const secret = Secret.fill('key');
    const put = (rules: unknown, caller = platform.owner) =>
      platform.call('POST', '/e2b/sandboxes', { caller, body: { templateID: 'busybox', network: { rules } } });
    const headers = { Authorization: secret };
    expect((await put({ '10.0.0.1': [{ transform: { headers } }] })).status).toBe(400);
    expect((await put({ [HOST]: [{ transform: { headers: { Host: secret } } }] })).status).toBe(400);
    expect((await put({ [HOST]: [{ transform: { path: '/x' } }] })).status).toBe(400);
    expect((await put({ [HOST]: [{ transform: { headers } }] }, platform.access.guest())).status).toBe(400);
    expect((await platform.call('GET', '/api/sandboxes')).body['count']).toBe(0);
  });
});
