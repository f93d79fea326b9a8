import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  GetObjectCommand,
  PutBucketPolicyCommand,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiClient, type ApiClient } from './api-client.ts';
import { startPlatform, type RunningPlatform } from './running-platform.ts';

/** Bounds a hanging test; the promise is one second. */
const SOON_MS = 20_000;
const BUCKET = `rights-${randomBytes(6).toString('hex')}`;

interface Person {
  id: string;
  token: string;
}

interface KeyOfSomeone {
  client: S3Client;
  /** Revokes what the key depends on. */
  end(): Promise<unknown>;
  /** Whether the key can still read afterwards. */
  reads?: boolean;
}

/** The whole platform with real accounts: an access key ends with every way of revoking its maker's rights. */
describe('access keys of a running platform', () => {
  let folder: TemporaryFolder;
  let platform: RunningPlatform;
  let owner: ApiClient;
  /** The owner's sign-in, which creating tokens requires. */
  let signedIn: string;
  let workspace: string;
  let team: string;

  beforeAll(async () => {
    folder = await temporaryFolder();
    platform = await startPlatform({ dataFolder: folder.path });
    owner = apiClient(platform.ready);
    const file = await readFile(join(folder.path, 'owner.json'), 'utf8');
    const { email, password } = JSON.parse(file) as { email: string; password: string }; // as described in the design
    const anonymous = apiClient({ url: platform.ready.url });
    const answer = await anonymous.post<{ access_token: string }>('/api/auth/login', { email, password });
    signedIn = answer.access_token;
    workspace = platform.ready.workspace_uuid;
    team = await newTeam();
    await change('PATCH', `/api/v1/workspaces/${workspace}`, { team_uuid: team });
    await owner.post(`/api/v1/workspace/${workspace}/object-store/buckets`, { name: BUCKET });
  });
  afterAll(async () => {
    await platform.stop();
    await folder.remove();
  });

  const as = (token: string): ApiClient => apiClient({ url: platform.ready.url, token });
  const change = async (method: string, path: string, body?: unknown, token = platform.ready.token): Promise<void> => {
    const response = await fetch(new URL(path, platform.ready.url), {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
  };
  const newTeam = async (): Promise<string> =>
    (await owner.post<{ uuid: string }>('/api/v1/teams', { name: randomBytes(6).toString('hex') })).uuid;
  const addMember = async (role: string, intoTeam = team): Promise<Person> => {
    const name = randomBytes(6).toString('hex');
    const [email, password] = [`${name}@example.com`, `a long password ${name}`];
    const invitation = await owner.post<{ token: string }>(`/api/v1/teams/${intoTeam}/invitations`, { email, role });
    const anonymous = apiClient({ url: platform.ready.url });
    await anonymous.post(`/api/v1/invitations/${invitation.token}/accept`, { email, name, password });
    const { access_token: token } = await anonymous.post<{ access_token: string }>('/api/auth/login', {
      email,
      password,
    });
    const { user } = await as(token).get<{ user: { id: string } }>('/api/auth/me');
    return { id: user.id, token };
  };
  const keyOf = async (token: string, query = `?team_uuid=${team}`, inWorkspace = workspace): Promise<S3Client> => {
    const path = `/api/v1/workspace/${inWorkspace}/object-store/keys${query}`;
    const { data } = await as(token).post<{ data: { accessKeyId: string; secretAccessKey: string } }>(path, {});
    const { accessKeyId, secretAccessKey } = data;
    return new S3Client({
      endpoint: platform.ready.s3_endpoint,
      region: 'auto',
      forcePathStyle: true,
      credentials: { accessKeyId, secretAccessKey },
      maxAttempts: 1,
    });
  };
  const newToken = (token: string, expiresAt: string | null): Promise<{ id: string; token: string }> =>
    as(token).post('/api/tokens', {
      name: randomBytes(6).toString('hex'),
      ...(expiresAt === null ? {} : { expires_at: expiresAt }),
    });
  const newWorkspace = async (token: string, body: object = {}): Promise<string> => {
    const name = randomBytes(6).toString('hex');
    return (await as(token).post<{ uuid: string }>('/api/v1/workspaces', { name, ...body })).uuid;
  };

  const put = (client: S3Client): Promise<unknown> =>
    client.send(new PutObjectCommand({ Bucket: BUCKET, Key: 'object', Body: 'content' }));
  const get = (client: S3Client): Promise<unknown> =>
    client.send(new GetObjectCommand({ Bucket: BUCKET, Key: 'object' }));
  const refusal = async (call: Promise<unknown>): Promise<string | null> => {
    try {
      await call;
      return null;
    } catch (error) {
      if (error instanceof S3ServiceException) return error.name;
      throw error;
    }
  };
  const expectRefused = (call: () => Promise<unknown>): Promise<string> =>
    waitFor(() => refusal(call()), { timeoutMs: SOON_MS, description: 'the key to end' });

  const cases: readonly [string, () => Promise<KeyOfSomeone>][] = [
    [
      'a member is removed',
      async () => {
        const { id, token } = await addMember('member');
        return { client: await keyOf(token), end: () => owner.delete(`/api/v1/teams/${team}/members/${id}`) };
      },
    ],
    [
      'a member becomes a guest',
      async () => {
        const { id, token } = await addMember('member');
        const end = () => change('PATCH', `/api/v1/teams/${team}/members/${id}`, { role: 'guest' });
        return { client: await keyOf(token), end, reads: true };
      },
    ],
    [
      'a member leaves',
      async () => {
        const { id, token } = await addMember('member');
        return { client: await keyOf(token), end: () => as(token).delete(`/api/v1/teams/${team}/members/${id}`) };
      },
    ],
    [
      'a service account is deleted',
      async () => {
        const path = `/api/v1/workspaces/${workspace}/service-accounts`;
        const account = await owner.post<{ id: string; token: string }>(path, { name: 'sa', scopes: ['write'] });
        return { client: await keyOf(account.token, ''), end: () => owner.delete(`${path}/${account.id}`) };
      },
    ],
    [
      'a token is deleted',
      async () => {
        const token = await newToken(signedIn, null);
        return { client: await keyOf(token.token, ''), end: () => as(signedIn).delete(`/api/tokens/${token.id}`) };
      },
    ],
    [
      'a token expires',
      async () => {
        const token = await newToken(signedIn, new Date(Date.now() + 5_000).toISOString());
        return { client: await keyOf(token.token, ''), end: async () => undefined };
      },
    ],
    [
      'the workspace moves to another team',
      async () => {
        const { token } = await addMember('member');
        const client = await keyOf(token);
        const other = await newTeam();
        const end = async (): Promise<void> => {
          await change('PATCH', `/api/v1/workspaces/${workspace}`, { team_uuid: other });
        };
        return { client, end };
      },
    ],
    [
      'the team is deleted',
      async () => {
        const doomed = await newTeam();
        await change('PATCH', `/api/v1/workspaces/${workspace}`, { team_uuid: doomed });
        const { token } = await addMember('member', doomed);
        return {
          client: await keyOf(token, `?team_uuid=${doomed}`),
          end: () => owner.delete(`/api/v1/teams/${doomed}`),
        };
      },
    ],
  ];

  it.each(cases)('stop working when %s', async (_what, prepare) => {
    const { client, end, reads = false } = await prepare();
    try {
      await put(client);
      await get(client);
      await end();
      const code = await expectRefused(() => put(client));
      expect(code).toBe(reads ? 'AccessDenied' : 'InvalidAccessKeyId');
      expect((await refusal(get(client))) === null).toBe(reads);
    } finally {
      client.destroy();
      await change('PATCH', `/api/v1/workspaces/${workspace}`, { team_uuid: team });
    }
  });

  it('stop working for the former owner when the workspace is transferred', async () => {
    const heir = await addMember('admin');
    const given = await newWorkspace(platform.ready.token, { team_uuid: team });
    const name = `given-${randomBytes(6).toString('hex')}`;
    await owner.post(`/api/v1/workspace/${given}/object-store/buckets`, { name });
    const client = await keyOf(platform.ready.token, '', given);
    await change('POST', `/api/v1/workspaces/${given}/transfer`, { user_id: heir.id });
    await change('PATCH', `/api/v1/workspaces/${given}`, { team_uuid: null }, heir.token);
    const write = () => client.send(new PutObjectCommand({ Bucket: name, Key: 'object', Body: 'content' }));
    expect(await expectRefused(write)).toBe('InvalidAccessKeyId');
    client.destroy();
  });

  it('create no bucket in a deleted workspace', async () => {
    const doomed = await newWorkspace(platform.ready.token);
    const base = `/api/v1/workspace/${doomed}/object-store/buckets`;
    const name = `doomed-${randomBytes(6).toString('hex')}`;
    await owner.post(base, { name });
    const client = await keyOf(platform.ready.token, '', doomed);
    await owner.delete(`${base}/${name}`);
    await owner.delete(`/api/v1/workspaces/${doomed}`);
    const create = () => client.send(new CreateBucketCommand({ Bucket: `after-${randomBytes(6).toString('hex')}` }));
    expect(await expectRefused(create)).toBe('InvalidAccessKeyId');
    client.destroy();
  });

  it('of members cannot change settings, and the audit log records the attempt', async () => {
    const { id, token } = await addMember('member');
    const client = await keyOf(token);
    const Policy = JSON.stringify({
      Statement: [{ Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: `arn:aws:s3:::${BUCKET}/*` }],
    });
    expect(await refusal(client.send(new PutBucketPolicyCommand({ Bucket: BUCKET, Policy })))).toBe('AccessDenied');
    const CannedAcl = { ACL: 'public-read-write' } as const;
    const open = new CreateBucketCommand({ Bucket: `open-${BUCKET}`, ...CannedAcl });
    expect(await refusal(client.send(open))).toBe('AccessDenied');
    const log = await owner.get<Record<string, unknown>>(`/api/v1/audit?workspace_uuid=${workspace}&actor=${id}`);
    const text = JSON.stringify(log);
    for (const operation of ['PutBucketPolicy', 'CreateBucket']) expect(text).toContain(operation);
    client.destroy();
  });
});
