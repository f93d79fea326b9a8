import type { FakeCaller } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKeyMaker } from '../../src/routes/key-maker.ts';
import type { KeyPermission } from '../../src/domain/ports/records.ts';
import { IMPLEMENTED, type ImplementedOperation } from '../../src/s3/operations/index.ts';
import { FOLDER_OPERATIONS } from '../../src/routes/folders/bucket-folders.ts';
import { RANKS, ROUTES, type Rank } from '../support/management-routes.ts';
import { operationRequests } from '../support/operation-requests.ts';
import { sendRaw, signed, type RawAnswer, type RawRequest } from '../support/raw-request.ts';
import { startManagement, type RunningManagement } from '../support/running-management.ts';
import type { TestKey } from '../support/running-store.ts';

/** The equivalent management API route, or the rank such a route would need and why there is none. */
type Counterpart = string | { rank: Rank; because: string };

const only = (rank: Rank, because: string): Counterpart => ({ rank, because });
const SETTINGS = 'PUT /buckets/{name}/settings';
const SHOWN = 'GET /buckets/{name}/settings';
const shown = only('reads', 'the management API has no such document; reading it shows how the bucket is configured');
const configured = only('administers', 'the management API has no such document; it decides about the whole bucket');
const attribute = only('writes', 'the management API does not change what belongs to a stored object');
const locked = only(
  'administers',
  'it decides for how long nobody deletes, and the management API does not change locks',
);
const DOWNLOAD = 'GET /buckets/{name}/objects/download';
const LIST = 'GET /buckets/{name}/objects';
const MULTIPART = '/buckets/{name}/objects/multipart';
const PUT_CONTENT = 'PUT /buckets/{name}/objects/content';

/** Typed so that a new operation does not compile without a row here. */
const COUNTERPARTS: Readonly<Record<ImplementedOperation, Counterpart>> = {
  ListBuckets: 'GET /buckets',
  CreateBucket: 'POST /buckets',
  HeadBucket: SHOWN,
  DeleteBucket: 'DELETE /buckets/{name}',
  GetBucketLocation: 'GET /buckets/{name}/location',
  ListObjects: LIST,
  ListObjectsV2: LIST,
  ListObjectVersions: 'GET /buckets/{name}/objects/versions',
  GetBucketVersioning: 'GET /buckets/{name}/versioning',
  PutBucketVersioning: 'PUT /buckets/{name}/versioning',
  ListMultipartUploads: `GET ${MULTIPART}`,
  DeleteObjects: 'POST /buckets/{name}/objects/delete',
  PutObject: PUT_CONTENT,
  PostObject: 'POST /buckets/{name}/objects',
  GetObject: DOWNLOAD,
  HeadObject: 'HEAD /buckets/{name}/objects/download',
  DeleteObject: 'DELETE /buckets/{name}/objects',
  CopyObject: PUT_CONTENT,
  GetObjectAttributes: DOWNLOAD,
  CreateMultipartUpload: `POST ${MULTIPART}`,
  UploadPart: `PUT ${MULTIPART}/{uploadId}/parts/{n}`,
  UploadPartCopy: `PUT ${MULTIPART}/{uploadId}/parts/{n}`,
  CompleteMultipartUpload: `POST ${MULTIPART}/{uploadId}/complete`,
  AbortMultipartUpload: `DELETE ${MULTIPART}/{uploadId}`,
  ListParts: `GET ${MULTIPART}/{uploadId}/parts`,
  GetBucketLifecycleConfiguration: 'GET /buckets/{name}/lifecycle',
  PutBucketLifecycleConfiguration: 'PUT /buckets/{name}/lifecycle',
  DeleteBucketLifecycle: 'DELETE /buckets/{name}/lifecycle',
  GetBucketNotificationConfiguration: 'GET /buckets/{name}/notifications',
  PutBucketNotificationConfiguration: 'PUT /buckets/{name}/notifications',
  GetBucketCors: SHOWN,
  PutBucketCors: SETTINGS,
  DeleteBucketCors: SETTINGS,
  GetBucketWebsite: SHOWN,
  PutBucketWebsite: SETTINGS,
  DeleteBucketWebsite: SETTINGS,
  GetBucketPolicy: shown,
  PutBucketPolicy: configured,
  DeleteBucketPolicy: configured,
  GetBucketPolicyStatus: shown,
  GetBucketAcl: shown,
  PutBucketAcl: configured,
  GetPublicAccessBlock: shown,
  PutPublicAccessBlock: configured,
  DeletePublicAccessBlock: configured,
  GetBucketOwnershipControls: shown,
  PutBucketOwnershipControls: configured,
  DeleteBucketOwnershipControls: configured,
  GetBucketEncryption: 'GET /buckets/{name}/encryption',
  PutBucketEncryption: 'PUT /buckets/{name}/encryption',
  DeleteBucketEncryption: 'PUT /buckets/{name}/encryption',
  GetObjectLockConfiguration: shown,
  PutObjectLockConfiguration: configured,
  GetBucketTagging: shown,
  PutBucketTagging: configured,
  DeleteBucketTagging: configured,
  GetBucketLogging: shown,
  PutBucketLogging: configured,
  GetBucketRequestPayment: shown,
  PutBucketRequestPayment: configured,
  GetBucketAccelerateConfiguration: shown,
  PutBucketAccelerateConfiguration: configured,
  GetObjectTagging: only('reads', 'the management API does not show tags'),
  PutObjectTagging: attribute,
  DeleteObjectTagging: attribute,
  GetObjectRetention: only('reads', 'the management API does not show locks'),
  PutObjectRetention: locked,
  GetObjectLegalHold: only('reads', 'the management API does not show locks'),
  PutObjectLegalHold: locked,
  GetObjectAcl: only('reads', 'the management API shows `public` in listings'),
  PutObjectAcl: only('administers', 'it decides who reaches an object, as `public=true` does, which needs the same'),
};

/** Routes without an S3 operation, and why. */
const ONLY_MANAGEMENT: Readonly<Record<string, string>> = {
  'GET /': 'the status of the store',
  'GET /urls': 'addresses of a bucket',
  'GET /usage': 'figures',
  'DELETE /trash': 'S3 has no trash',
  'GET /buckets/deleted': 'S3 has no soft delete',
  'POST /buckets/{name}/restore': 'S3 has no soft delete',
  'POST /buckets/{name}/fork': 'S3 has no forks',
  'GET /buckets/{name}/fork': 'S3 has no forks',
  'GET /buckets/{name}/custom-domain': 'S3 has no custom domains',
  'PUT /buckets/{name}/custom-domain': 'S3 has no custom domains',
  'POST /buckets/{name}/custom-domain': 'S3 has no custom domains',
  'DELETE /buckets/{name}/custom-domain': 'S3 has no custom domains',
  'GET /domains': 'S3 has no custom domains',
  'POST /domains': 'S3 has no custom domains',
  'GET /domains/{hostname}/status': 'S3 has no custom domains',
  'DELETE /domains/{hostname}': 'S3 has no custom domains',
  'GET /buckets/{name}/notifications/secret': 'S3 notifications have no webhook secrets',
  'POST /buckets/{name}/notifications/secret': 'S3 notifications have no webhook secrets',
  'POST /buckets/{name}/notifications/test': 'S3 sends its test event by itself',
  'POST /buckets/{name}/notifications/redeliver': 'S3 does not redeliver',
  'GET /keys': 'keys are managed here alone',
  'POST /keys': 'keys are managed here alone',
  'DELETE /keys': 'keys are managed here alone',
  'POST /buckets/{name}/objects/presign': 'S3 clients presign by themselves',
  'POST /buckets/{name}/objects/versions/restore': 'S3 clients copy the version',
  'POST /buckets/{name}/folders': 'S3 clients put an empty object',
};

const DELETE = 'DELETE /buckets/{name}/objects';

/** The routes that do what an operation of a mounted bucket does. */
const FOLDER_COUNTERPARTS: Readonly<Record<string, readonly string[]>> = {
  lease: [], // nothing but the question whether the mount still has its right
  stat: [LIST, DOWNLOAD],
  list: [LIST],
  read: [DOWNLOAD],
  write: [PUT_CONTENT],
  append: [DOWNLOAD, PUT_CONTENT],
  attributes: [PUT_CONTENT],
  folder: ['POST /buckets/{name}/folders'],
  rename: [DOWNLOAD, PUT_CONTENT, DELETE],
  remove: [DELETE],
};

/** What each kind of key may do, written by hand, independently of the code that decides it. */
const KEY_KINDS: readonly { permissions: readonly KeyPermission[]; named: boolean; ranks: readonly Rank[] }[] = [
  { permissions: ['read'], named: false, ranks: ['reads'] },
  { permissions: ['write'], named: false, ranks: ['writes'] },
  { permissions: ['read', 'write'], named: false, ranks: ['reads', 'writes'] },
  { permissions: ['admin'], named: false, ranks: RANKS },
  { permissions: ['read', 'write', 'admin'], named: false, ranks: RANKS },
  { permissions: ['read'], named: true, ranks: ['reads'] },
  { permissions: ['write'], named: true, ranks: ['reads', 'writes'] },
  { permissions: ['read', 'write'], named: true, ranks: ['reads', 'writes'] },
  { permissions: ['admin'], named: true, ranks: ['reads', 'writes'] },
];

/** An exception that depends on the kind of key alone, not on a role. */
interface Difference {
  /** `always`: every key. `unnamed`: keys for all buckets. `reading`: keys that may also read. */
  onlyFor: 'always' | 'unnamed' | 'reading';
  because: string;
}

const DIFFERENCES: Readonly<Partial<Record<ImplementedOperation, Difference>>> = {
  ListBuckets: { onlyFor: 'always', because: 'every key lists the buckets that it is for' },
  CreateBucket: { onlyFor: 'unnamed', because: 'a key for named buckets creates none, since it could not use them' },
  CopyObject: { onlyFor: 'reading', because: 'a copy reads its source' },
};

function keyGives(
  operation: ImplementedOperation,
  { named, ranks }: { named: boolean; ranks: readonly Rank[] },
): boolean {
  const onlyFor = DIFFERENCES[operation]?.onlyFor;
  if (onlyFor === 'always') return true;
  if (onlyFor === 'unnamed' && named) return false;
  if (onlyFor === 'reading' && !ranks.includes('reads')) return false;
  return ranks.includes(findRank(operation));
}

const routeNames = ROUTES.map(([method, path]) => `${method} ${path.split('?', 1)[0] ?? ''}`);

function findRank(operation: ImplementedOperation): Rank {
  const counterpart = COUNTERPARTS[operation];
  if (typeof counterpart !== 'string') return counterpart.rank;
  const route = ROUTES[routeNames.indexOf(counterpart)];
  if (route === undefined) throw new Error(`${operation} names no route: ${counterpart}`);
  return route[2];
}

describe('the S3 plane and the management API', () => {
  let management: RunningManagement;
  let admin: TestKey;
  /** Every creator role with every kind of key: the key, the rank of the role and the ranks of the kind. */
  const keys: { name: string; key: TestKey; named: boolean; role: Rank | null; ranks: readonly Rank[] }[] = [];
  let roles: readonly { name: string; as: FakeCaller; rank: Rank | null; query: string }[];

  beforeAll(async () => {
    management = await startManagement();
    const { access, owner, store, tenantId: workspaceUuid } = management;
    await management.call('POST', '/buckets', { body: { name: 'alpha' } });
    admin = await store.createKey({ workspaceUuid });
    const team = access.team(workspaceUuid);
    const joined = (role: 'admin' | 'member' | 'guest', rank: Rank) => {
      const as = access.user(role);
      access.join(team, as, role);
      return { name: `team ${role}`, as, rank, query: `team_uuid=${team}` };
    };
    const account = (scope: 'read' | 'write' | 'admin', rank: Rank) => ({
      name: `sat_ ${scope}`,
      as: access.serviceAccount(workspaceUuid, [scope]),
      rank,
      query: '',
    });
    roles = [
      { name: 'owner', as: owner, rank: 'administers', query: '' },
      joined('admin', 'administers'),
      joined('member', 'writes'),
      joined('guest', 'reads'),
      account('admin', 'administers'),
      account('write', 'writes'),
      account('read', 'reads'),
      { name: 'outsider', as: access.user('outsider'), rank: null, query: '' },
    ];
    for (const { name, as, rank } of roles) {
      for (const { permissions, named, ranks } of KEY_KINDS) {
        const maker = createKeyMaker(as.principal);
        const key = await store.createKey({ workspaceUuid, permissions, buckets: named ? ['alpha'] : null, maker });
        const kind = `${permissions.join('+')} on ${named ? 'alpha' : 'all'}`;
        keys.push({ name: `${name}, ${kind}`, key, named, role: rank, ranks });
      }
    }
  });
  afterAll(() => management.close());

  const send = (raw: RawRequest, key: TestKey): Promise<RawAnswer> => {
    const { endpoint } = management.store;
    const { host } = new URL(endpoint);
    return sendRaw(endpoint, signed(raw, { key, host, nowMs: management.clock.nowMs() }));
  };
  const includes = (role: Rank | null, rank: Rank): boolean =>
    role !== null && RANKS.indexOf(role) >= RANKS.indexOf(rank);

  it('have a counterpart or a reason for every operation and every route', () => {
    const named = Object.values(COUNTERPARTS).filter((counterpart) => typeof counterpart === 'string');
    const covered = new Set<string>([...named, ...Object.keys(ONLY_MANAGEMENT)]);
    expect(routeNames.filter((route) => !covered.has(route))).toEqual([]);
    expect([...covered].filter((route) => !routeNames.includes(route))).toEqual([]);
    expect(Object.keys(COUNTERPARTS).toSorted()).toEqual([...IMPLEMENTED].toSorted());
  });

  it.each(IMPLEMENTED.filter((name) => name !== 'PostObject'))('agree on %s', async (operation) => {
    const request = operationRequests.get(operation);
    if (request === undefined) throw new Error(`${operation} has no request`);
    const expected: Record<string, boolean> = {};
    const actual: Record<string, boolean> = {};
    const restore = () => send({ method: 'PUT', target: '/alpha/object', body: 'x' }, admin);
    await restore();
    for (const { name, key, named, role, ranks } of keys) {
      actual[name] = (await send(request, key)).status !== 403;
      expected[name] = keyGives(operation, { named, ranks }) && includes(role, findRank(operation));
      if (operation === 'DeleteObject') await restore();
    }
    expect(actual).toEqual(expected);
  });

  it('refuse every operation without credentials', async () => {
    for (const operation of IMPLEMENTED) {
      const request = operationRequests.get(operation);
      // A form carries its own credentials; a list is refused per object (operation-refusals.test.ts).
      if (request === undefined || operation === 'DeleteObjects') continue;
      expect([operation, (await sendRaw(management.store.endpoint, request)).status]).toEqual([operation, 403]);
    }
  });

  it('need for each operation of a mount the right that its mount needs: to read, or to write', () => {
    expect(Object.keys(FOLDER_COUNTERPARTS).toSorted()).toEqual(Object.keys(FOLDER_OPERATIONS).toSorted());
    for (const [name, routes] of Object.entries(FOLDER_COUNTERPARTS)) {
      const ranks = routes.map((route) => ROUTES[routeNames.indexOf(route)]?.[2]);
      expect([name, ranks.filter((rank) => rank !== 'reads' && rank !== 'writes')]).toEqual([name, []]);
      expect([name, FOLDER_OPERATIONS[name]?.changes]).toEqual([name, ranks.includes('writes')]);
    }
  });

  const PUBLIC = { 'x-amz-acl': 'public-read' };
  const SHARING: readonly [string, RawRequest][] = [
    ['PutObject with a canned ACL', { method: 'PUT', target: '/alpha/shared', headers: PUBLIC }],
    [
      'PutObject with a grant',
      {
        method: 'PUT',
        target: '/alpha/shared',
        headers: { 'x-amz-grant-read': 'uri="http://acs.amazonaws.com/groups/global/AllUsers"' },
      },
    ],
    [
      'CopyObject with a canned ACL',
      { method: 'PUT', target: '/alpha/shared', headers: { ...PUBLIC, 'x-amz-copy-source': '/alpha/object' } },
    ],
    ['CreateMultipartUpload with a canned ACL', { method: 'POST', target: '/alpha/shared?uploads', headers: PUBLIC }],
    ['CreateBucket with a canned ACL', { method: 'PUT', target: '/open', headers: PUBLIC }],
    [
      'CreateBucket with ownership',
      { method: 'PUT', target: '/open', headers: { 'x-amz-object-ownership': 'ObjectWriter' } },
    ],
    [
      'CreateBucket with object lock',
      { method: 'PUT', target: '/open', headers: { 'x-amz-bucket-object-lock-enabled': 'true' } },
    ],
  ];

  it.each(SHARING)('let only administrators share: %s', async (_what, request) => {
    await send({ method: 'PUT', target: '/alpha/object', body: 'x' }, admin);
    for (const { name, key, role, ranks } of keys) {
      const isAllowed = ranks.includes('administers') && role === 'administers';
      expect([name, (await send(request, key)).status !== 403]).toEqual([name, isAllowed]);
    }
  });

  const LOCKING: readonly [string, Record<string, string>][] = [
    ['a legal hold', { 'x-amz-object-lock-legal-hold': 'ON' }],
    [
      'a retention',
      {
        'x-amz-object-lock-mode': 'COMPLIANCE',
        'x-amz-object-lock-retain-until-date': '2027-01-01T00:00:00Z',
      },
    ],
  ];

  it.each(LOCKING)('let only administrators write with %s', async (_what, headers) => {
    await send({ method: 'PUT', target: '/locked', headers: { 'x-amz-bucket-object-lock-enabled': 'true' } }, admin);
    const writes: RawRequest[] = [
      { method: 'PUT', target: '/locked/object', headers },
      { method: 'PUT', target: '/locked/copy', headers: { ...headers, 'x-amz-copy-source': '/alpha/object' } },
      { method: 'POST', target: '/locked/large?uploads', headers },
    ];
    await send({ method: 'PUT', target: '/alpha/object', body: 'x' }, admin);
    for (const { name, key, role, ranks, named } of keys) {
      if (named) continue; // for another bucket only
      const isAllowed = ranks.includes('administers') && role === 'administers';
      for (const request of writes) {
        expect([name, request.target, (await send(request, key)).status === 200]).toEqual([
          name,
          request.target,
          isAllowed,
        ]);
      }
    }
  });

  it('let every writer set a private ACL', async () => {
    const request = { method: 'PUT', target: '/alpha/own', headers: { 'x-amz-acl': 'private' } };
    for (const { name, key, role, ranks } of keys) {
      const isAllowed = ranks.includes('writes') && includes(role, 'writes');
      expect([name, (await send(request, key)).status === 200]).toEqual([name, isAllowed]);
    }
  });

  it('let only administrators make an object public through the management API', async () => {
    const form =
      '--b\r\ncontent-disposition: form-data; name="public"\r\n\r\ntrue\r\n--b\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\nx\r\n--b--\r\n';
    for (const { name, as, rank, query } of roles) {
      const { call } = management;
      const octets = { 'content-type': 'application/octet-stream' };
      const put = await call('PUT', `/buckets/alpha/objects/content?key=p&public=true&${query}`, {
        as,
        body: Buffer.from('x'),
        headers: octets,
      });
      const posted = await call('POST', `/buckets/alpha/objects?${query}`, {
        as,
        body: Buffer.from(form),
        headers: { 'content-type': 'multipart/form-data; boundary=b' },
      });
      const begun = await call('POST', `/buckets/alpha/objects/multipart?${query}`, {
        as,
        body: { key: 'p', public: true },
      });
      const isAllowed = rank === 'administers';
      const statuses = [put, posted, begun].map(({ status }) => status === 201);
      expect([name, ...statuses]).toEqual([name, isAllowed, isAllowed, isAllowed]);
    }
  });
});
