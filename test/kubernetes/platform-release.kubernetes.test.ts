import { setTimeout as delay } from 'node:timers/promises';
import { join } from 'node:path';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { findPostgresPrograms, requirement, skippedTitle } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiClient } from '../system/api-client.ts';
import { PROJECT_ROOT } from '../system/running-platform.ts';
import { helmRequirement, kubernetesRequirement, startKubernetes, type Kubernetes } from './index.ts';
import { prepareRelease, type ReleaseFixture } from './release-fixture.ts';

const noPostgres = findPostgresPrograms() === null ? 'needs PostgreSQL' : null;
const given = (process.env['KUBECONFIG_UNDER_TEST'] ?? '') === '' ? null : 'a cluster was given from outside';
const reason =
  given ??
  noPostgres ??
  requirement('root', 'command:dnsmasq', 'command:dpkg-deb') ??
  (await kubernetesRequirement()) ??
  (await helmRequirement());
const TITLE = "two replicas of the platform's chart on a node";
const CHART = join(PROJECT_ROOT, 'deploy/helm/svc');
const WAIT = ['--wait', '--timeout', '300s'];

/** Writes objects one after another until it is stopped. */
interface Writer {
  /** Stops it; returns the keys whose writes were acknowledged. */
  stop(): Promise<string[]>;
}

describe.skipIf(reason !== null)(reason === null ? TITLE : skippedTitle(TITLE, reason), () => {
  let kubernetes: Kubernetes;
  let release: ReleaseFixture;
  let client: S3Client;

  beforeAll(async () => {
    kubernetes = await startKubernetes();
    release = await prepareRelease(kubernetes);
  }, 1_200_000); // builds the image
  afterAll(async () => {
    client?.destroy();
    await release?.[Symbol.asyncDispose]();
    await kubernetes?.stop();
  });

  const values = (...more: readonly string[]): string[] =>
    [...release.values, ...more].flatMap((each) => ['--set', each]);
  const pods = (path: string): Promise<string> =>
    kubernetes.kubectl(
      '-n',
      release.namespace,
      'get',
      'pods',
      '-l',
      'app.kubernetes.io/name=svc',
      '-o',
      `jsonpath=${path}`,
    );
  /** Ids of the replicas' pods. */
  const replicas = async (): Promise<string[]> => (await pods('{.items[*].metadata.uid}')).split(' ').toSorted();

  it('becomes ready and passes helm test', async () => {
    await release.helm('install', CHART, ...values(), ...WAIT);
    expect(await replicas()).toHaveLength(2);
    await release.serveNames();
    const tested = await release.helm('test', '--timeout', '180s');
    expect(tested).toContain('Phase:          Succeeded');
  });

  it('serves the owner and an S3 client', async () => {
    const url = await release.addressOf('http');
    const credentials = { email: 'owner@localhost', password: release.ownerPassword };
    const { access_token: token } = await apiClient({ url }).post<{ access_token: string }>(
      '/api/auth/login',
      credentials,
    );
    const api = apiClient({ url, token });
    const { workspace_uuid: workspace } = await api.get<{ workspace_uuid: string }>('/api/auth/me');
    const store = `/api/v1/workspace/${workspace}/object-store`;
    await api.post(`${store}/buckets`, { name: 'first' });
    const { data: key } = await api.post<{ data: { accessKeyId: string; secretAccessKey: string; region: string } }>(
      `${store}/keys`,
      {},
    );
    client = new S3Client({
      endpoint: await release.addressOf('s3'),
      region: key.region,
      credentials: key,
      forcePathStyle: true,
      maxAttempts: 5,
    });
    await client.send(new PutObjectCommand({ Bucket: 'first', Key: 'hello', Body: 'from outside' }));
  });

  const startWriter = (name: string): Writer => {
    const written: string[] = [];
    const stopped = new AbortController();
    const ended = (async () => {
      for (let n = 0; !stopped.signal.aborted; n += 1) {
        const key = `${name}/${n}`;
        await client.send(new PutObjectCommand({ Bucket: 'first', Key: key, Body: key }));
        written.push(key);
        await delay(20);
      }
    })();
    ended.catch(() => undefined); // reported by `stop`
    return {
      stop: async () => {
        stopped.abort();
        await ended;
        return written;
      },
    };
  };

  /** Runs a Helm command that replaces every pod, while clients write; nothing acknowledged may be missing. */
  const replaceUnderLoad = async (command: string, ...rest: readonly string[]): Promise<void> => {
    const before = await replicas();
    const writers = ['a', 'b', 'c'].map((name) => startWriter(`${command}-${name}`));
    await release.helm(command, ...rest, ...WAIT);
    const after = await replicas();
    const written = (await Promise.all(writers.map((writer) => writer.stop()))).flat();
    expect(after).toHaveLength(2);
    expect(after.filter((uid) => before.includes(uid))).toEqual([]);
    expect(written.length).toBeGreaterThan(100);
    for (const key of written) {
      const { Body: body } = await client.send(new GetObjectCommand({ Bucket: 'first', Key: key }));
      expect(await body?.transformToString()).toBe(key);
    }
    expect(await pods('{.items[*].status.containerStatuses[*].restartCount}')).toBe('0 0');
  };

  it('upgrades under load without a failed write', () =>
    replaceUnderLoad('upgrade', CHART, ...values('config.log.level=debug')));

  it('rolls back under load without a failed write', () => replaceUnderLoad('rollback', '1'));
});
