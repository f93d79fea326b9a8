import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { apiClient } from '../system/api-client.ts';
import type { ReadyLine } from '../system/running-platform.ts';

/** The owner of every replica. */
export const OWNER = { email: 'owner@localhost', password: 'correct horse battery staple' } as const;

/** What was made at one replica, for another one to use. */
export interface Written {
  /** Unique among the walks of one database. */
  readonly name: string;
  /** The API token of that replica's start. */
  readonly token: string;
  /** The cookie of a session. */
  readonly cookie: string;
  readonly key: { readonly accessKeyId: string; readonly secretAccessKey: string; readonly region: string };
  readonly uploadId: string;
  readonly firstPart: string;
  readonly clusterId: string;
  readonly deploymentId: string;
}

/** What the other replica sees of it. */
export interface Seen {
  readonly byToken: string;
  readonly bySession: string;
  readonly teams: readonly string[];
  readonly small: string;
  readonly largeBytes: number;
  readonly uploaded: string;
  readonly keys: readonly string[];
  readonly deployment: string;
  readonly deployments: readonly string[];
}

const MANIFEST = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: walk }\n';
/** Too large to be stored in the database. */
const LARGE_BYTES = 300_000;
/** Smallest part that S3 accepts before the last one. */
const PART_BYTES = 5 * 1024 * 1024;
const SMALL_TEXT = 'small';

/** Creates a bit of everything at a replica. */
export async function writeAt(ready: ReadyLine, name: string): Promise<Written> {
  const api = apiClient(ready);
  await api.post('/api/v1/teams', { name });
  const base = storeBase(ready);
  await api.post(`${base}/buckets`, { name });
  const { data: key } = await api.post<{ data: Written['key'] }>(`${base}/keys`, { label: name });
  const s3 = createS3(ready, key);
  await s3.send(new PutObjectCommand({ Bucket: name, Key: 'small', Body: SMALL_TEXT }));
  await s3.send(new PutObjectCommand({ Bucket: name, Key: 'large', Body: Buffer.alloc(LARGE_BYTES, name) }));
  const upload = { Bucket: name, Key: 'parts' };
  const { UploadId: uploadId = '' } = await s3.send(new CreateMultipartUploadCommand(upload));
  const part = { ...upload, UploadId: uploadId, PartNumber: 1, Body: Buffer.alloc(PART_BYTES, name) };
  const { ETag: firstPart = '' } = await s3.send(new UploadPartCommand(part));
  s3.destroy();
  const { id: clusterId } = await api.post<{ id: string }>('/v1/clusters', { name });
  const { id: deploymentId } = await deploy(ready, clusterId);
  return { name, token: ready.token, cookie: await signIn(ready), key, uploadId, firstPart, clusterId, deploymentId };
}

/** Uses all of it at another replica, and goes on with what was begun. */
export async function useAt(ready: ReadyLine, written: Written): Promise<Seen> {
  const api = apiClient({ url: ready.url, token: written.token });
  const { name: Bucket, uploadId: UploadId, firstPart, clusterId, deploymentId } = written;
  const s3 = createS3(ready, written.key);
  const read = async (Key: string): Promise<Uint8Array> => {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
    return (await Body?.transformToByteArray()) ?? new Uint8Array();
  };
  const upload = { Bucket, Key: 'parts', UploadId };
  const { ETag: lastPart } = await s3.send(new UploadPartCommand({ ...upload, PartNumber: 2, Body: 'last' }));
  const Parts = [firstPart, lastPart].map((ETag, index) => ({ ETag, PartNumber: index + 1 }));
  await s3.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }));
  const uploaded = Buffer.from(await read('parts'));
  const small = Buffer.from(await read('small')).toString();
  const largeBytes = (await read('large')).length;
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket }));
  s3.destroy();
  await deploy(ready, clusterId);
  const { status: deployment } = await api.get<{ status: string }>(
    `/v1/clusters/${clusterId}/deployments/${deploymentId}`,
  );
  const deployments = await api.get<{ deployments: { status: string }[] }>(`/v1/clusters/${clusterId}/deployments`);
  return {
    byToken: await findEmail(ready, { authorization: `Bearer ${written.token}` }),
    bySession: await findEmail(ready, { cookie: written.cookie }),
    teams: (await api.get<{ teams: { name: string }[] }>('/api/v1/teams')).teams.map((team) => team.name),
    small,
    largeBytes,
    uploaded: `${uploaded.length - PART_BYTES} bytes more: ${uploaded.subarray(PART_BYTES).toString()}`,
    keys: Contents.map(({ Key = '' }) => Key),
    deployment,
    deployments: deployments.deployments.map(({ status }) => status),
  };
}

function createS3({ s3_endpoint: endpoint }: ReadyLine, { region, ...credentials }: Written['key']): S3Client {
  return new S3Client({ endpoint, region, credentials, forcePathStyle: true });
}

/** For an agent that is not connected yet. */
function deploy(ready: ReadyLine, clusterId: string): Promise<{ id: string }> {
  return apiClient(ready).post(`/v1/clusters/${clusterId}/deploy`, {
    project_id: 'walk',
    namespace: 'default',
    manifest: MANIFEST,
    queue_if_offline: true,
  });
}

async function signIn({ url }: ReadyLine): Promise<string> {
  const response = await fetch(`${url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(OWNER),
  });
  await response.arrayBuffer();
  return response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ');
}

async function findEmail({ url }: ReadyLine, headers: Readonly<Record<string, string>>): Promise<string> {
  const response = await fetch(`${url}/api/auth/me`, { headers });
  const { user } = (await response.json()) as { user: { email: string } }; // a refusal has none, which fails the test
  return user.email;
}

function storeBase(ready: ReadyLine): string {
  return `/api/v1/workspace/${ready.workspace_uuid}/object-store`;
}
