import { createHmac, randomUUID } from 'node:crypto';
import { ALGORITHM, credentialScope, deriveSigningKey, toAmzDate } from '@svc/s3-sign';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendRaw, signed, type RawAnswer, type RawRequest } from '../support/raw-request.ts';
import { startStore, type RunningStore, type TestKey } from '../support/running-store.ts';

type Field = readonly [name: string, value: string];
const BOUNDARY = 'x-form-x';

describe('form uploads', () => {
  const workspaceUuid = randomUUID();
  let folder: TemporaryFolder;
  let store: RunningStore;
  let admin: TestKey;
  let stranger: TestKey;
  let reader: TestKey;

  beforeAll(async () => {
    folder = await temporaryFolder();
    store = await startStore(folder.path);
    admin = await store.createKey({ workspaceUuid });
    reader = await store.createKey({ workspaceUuid, permissions: ['read'] });
    stranger = await store.createKey({ workspaceUuid: randomUUID() });
    await send({ method: 'PUT', target: '/closed' });
    await send({ method: 'PUT', target: '/open', headers: { 'x-amz-acl': 'public-read-write' } });
  });
  afterAll(async () => {
    await store.close();
    await folder.remove();
  });

  const send = (raw: RawRequest, key = admin): Promise<RawAnswer> =>
    sendRaw(store.endpoint, signed(raw, { key, host: new URL(store.endpoint).host }));

  const renderForm = (fields: readonly Field[], file: string | Buffer, end = `\r\n--${BOUNDARY}--\r\n`): Buffer => {
    const head = fields.map(
      ([name, value]) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    );
    const last = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="photo.png"\r\nContent-Type: image/png\r\n\r\n`;
    return Buffer.concat([Buffer.from(head.join('') + last), Buffer.from(file), Buffer.from(end)]);
  };
  const postBody = (bucket: string, body: Buffer): Promise<RawAnswer> =>
    sendRaw(store.endpoint, {
      method: 'POST',
      target: `/${bucket}`,
      headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}`, 'content-length': String(body.length) },
      body,
    });
  const post = (bucket: string, fields: readonly Field[], file: string | Buffer = 'content'): Promise<RawAnswer> =>
    postBody(bucket, renderForm(fields, file));

  const renderPolicy = (conditions: unknown[], expiresInMs = 60_000): string =>
    Buffer.from(JSON.stringify({ expiration: new Date(Date.now() + expiresInMs).toISOString(), conditions })).toString(
      'base64',
    );
  const signedFields = (policy: string, key = admin): Field[] => {
    const amzDate = toAmzDate(Date.now());
    const date = amzDate.slice(0, 8);
    return [
      ['policy', policy],
      ['x-amz-algorithm', ALGORITHM],
      ['x-amz-credential', `${key.accessKeyId}/${credentialScope(date, 'auto')}`],
      ['x-amz-date', amzDate],
      ['x-amz-signature', deriveSigningKey(key.secretAccessKey, date, 'auto').sign(policy)],
    ];
  };
  const anyKey = [{ bucket: 'closed' }, ['starts-with', '$key', '']];

  it('store the file under the key and with the fields of the form', async () => {
    const conditions = [
      ...anyKey,
      ['starts-with', '$x-amz-meta-place', ''],
      { 'Content-Type': 'image/png' },
      ['eq', '$acl', 'public-read'],
    ];
    const answer = await post('closed', [
      ['key', 'up/${filename}'],
      ['Content-Type', 'image/png'],
      ['x-amz-meta-place', 'Zürich'],
      ['acl', 'public-read'],
      ...signedFields(renderPolicy(conditions)),
    ]);
    expect(answer).toMatchObject({ status: 204, headers: { location: `${store.endpoint}/closed/up/photo.png` } });
    const found = await sendRaw(store.endpoint, { target: '/closed/up/photo.png' });
    expect(found).toMatchObject({ status: 200, headers: { 'content-type': 'image/png', etag: answer.headers.etag } });
    expect(found.body.toString()).toBe('content');
    expect(Buffer.from(String(found.headers['x-amz-meta-place']), 'latin1').toString()).toBe('Zürich');
  });

  it('accept large files, and the tags and checksum of the form', async () => {
    const file = Buffer.alloc(3 * 1024 * 1024, 'abcdefg\r\n--x-form');
    const tagging = '<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>';
    const conditions = [...anyKey, ['starts-with', '$tagging', '']];
    const fields: Field[] = [['key', 'large'], ['tagging', tagging], ...signedFields(renderPolicy(conditions))];
    expect((await post('closed', fields, file)).status).toBe(204);
    const found = await send({ target: '/closed/large' });
    expect(found.body.equals(file)).toBe(true);
    expect(found.headers['x-amz-tagging-count']).toBe('1');
    const wrong = await post('closed', [...fields, ['x-amz-checksum-crc32', 'AAAAAA==']], file);
    expect(wrong).toMatchObject({ status: 400, code: 'BadDigest' });
  });

  it('may end without a line break, or continue after the file, if the file is small', async () => {
    const fields: Field[] = [['key', 'small']];
    const late = `\r\n--${BOUNDARY}\r\nContent-Disposition: form-data; name="submit"\r\n\r\nUpload\r\n--${BOUNDARY}--\r\n`;
    for (const end of [`\r\n--${BOUNDARY}--`, late]) {
      expect((await postBody('open', renderForm(fields, 'content', end))).status).toBe(204);
      expect((await postBody('open', renderForm(fields, Buffer.alloc(600_000), end))).code).toBe('InvalidArgument');
    }
    expect((await sendRaw(store.endpoint, { target: '/open/small' })).status).toBe(403);
    expect((await send({ target: '/open/small' })).body.toString()).toBe('content');
  });

  it('answer as the form requests', async () => {
    const created = await post('open', [
      ['key', 'k&k'],
      ['success_action_status', '201'],
    ]);
    expect(created.status).toBe(201);
    expect(created.body.toString()).toMatch(
      /<PostResponse><Location>.*<\/Location><Bucket>open<\/Bucket><Key>k&amp;k</,
    );
    expect(
      (
        await post('open', [
          ['key', 'k'],
          ['success_action_status', '200'],
        ])
      ).status,
    ).toBe(200);
    expect(
      (
        await post('open', [
          ['key', 'k'],
          ['success_action_status', '404'],
        ])
      ).status,
    ).toBe(204);
    const there = await post('open', [
      ['key', 'k k'],
      ['success_action_redirect', 'https://example.com/done?a=b'],
    ]);
    expect(there.status).toBe(303);
    expect(there.headers.location).toMatch(
      /^https:\/\/example\.com\/done\?a=b&bucket=open&key=k%20k&etag=%22[0-9a-f]{32}%22$/,
    );
    expect(
      (
        await post('open', [
          ['key', 'k'],
          ['success_action_redirect', 'javascript:alert(1)'],
        ])
      ).status,
    ).toBe(204);
  });

  it('are checked for a valid signature before revealing whether the bucket exists', async () => {
    const conditions = [{ bucket: 'nowhere' }, ['starts-with', '$key', '']];
    const policy = renderPolicy(conditions);
    const fields = (changed: Record<string, string> = {}): Field[] => [
      ['key', 'k'],
      ...signedFields(policy).map(([name, value]): Field => [name, changed[name] ?? value]),
    ];
    expect(await post('nowhere', fields())).toMatchObject({ status: 404, code: 'NoSuchBucket' });
    const wrong = await post('nowhere', fields({ 'x-amz-signature': '0'.repeat(64) }));
    expect(wrong).toMatchObject({ status: 403, code: 'SignatureDoesNotMatch' });
    expect(wrong.body.toString()).toContain(`<AWSAccessKeyId>${admin.accessKeyId}</AWSAccessKeyId>`);
    const spelled = [...Buffer.from(policy)].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    expect(wrong.body.toString()).toContain(`<StringToSignBytes>${spelled}</StringToSignBytes>`);
    for (const name of ['x-amz-algorithm', 'x-amz-credential', 'x-amz-date']) {
      const answer = await post('nowhere', fields({ [name]: 'invalid' }));
      expect(answer).toMatchObject({ status: 400, code: 'InvalidArgument' });
      expect(answer.body.toString()).toContain('<ArgumentValue>invalid</ArgumentValue>');
    }
  });

  it('are accepted with the older signature version too', async () => {
    const policy = renderPolicy(anyKey);
    const signature = createHmac('sha1', admin.secretAccessKey).update(policy).digest('base64');
    const fields: Field[] = [
      ['key', 'old'],
      ['policy', policy],
      ['AWSAccessKeyId', admin.accessKeyId],
    ];
    expect((await post('closed', [...fields, ['signature', signature]])).status).toBe(204);
    expect(await post('closed', [...fields, ['signature', 'AAAA']])).toMatchObject({ code: 'SignatureDoesNotMatch' });
  });

  it.each<[string, () => readonly Field[], number, string]>([
    ['nobody signed', () => [['key', 'k']], 403, 'AccessDenied'],
    [
      'another workspace signed',
      () => [['key', 'k'], ...signedFields(renderPolicy(anyKey), stranger)],
      403,
      'AccessDenied',
    ],
    [
      'a key signed that may only read',
      () => [['key', 'k'], ...signedFields(renderPolicy(anyKey), reader)],
      403,
      'AccessDenied',
    ],
    [
      'nobody’s key signed',
      () => [['key', 'k'], ...signedFields(renderPolicy(anyKey), { ...admin, accessKeyId: 'tid_none' })],
      403,
      'InvalidAccessKeyId',
    ],
    [
      'a wrong secret signed',
      () => [['key', 'k'], ...signedFields(renderPolicy(anyKey), { ...admin, secretAccessKey: 'tsec_wrong' })],
      403,
      'SignatureDoesNotMatch',
    ],
    [
      'the policy has no signature',
      () => [
        ['key', 'k'],
        ['policy', renderPolicy(anyKey)],
      ],
      400,
      'InvalidArgument',
    ],
    ['the signature has no policy', () => [['key', 'k'], ...signedFields('x').slice(1)], 400, 'InvalidArgument'],
    ['the policy is over', () => [['key', 'k'], ...signedFields(renderPolicy(anyKey, -1_000))], 403, 'AccessDenied'],
    [
      'the policy is of another bucket',
      () => [['key', 'k'], ...signedFields(renderPolicy([{ bucket: 'open' }, ['starts-with', '$key', '']]))],
      403,
      'AccessDenied',
    ],
    [
      'a field is not in the policy',
      () => [['key', 'k'], ['acl', 'public-read'], ...signedFields(renderPolicy(anyKey))],
      403,
      'AccessDenied',
    ],
    ['the policy is none', () => [['key', 'k'], ...signedFields('AAAA')], 400, 'InvalidPolicyDocument'],
    [
      'the file is too large',
      () => [['key', 'k'], ...signedFields(renderPolicy([...anyKey, ['content-length-range', 0, 3]]))],
      400,
      'EntityTooLarge',
    ],
    [
      'the file is too small',
      () => [['key', 'k'], ...signedFields(renderPolicy([...anyKey, ['content-length-range', 100, 200]]))],
      400,
      'EntityTooSmall',
    ],
    ['there is no key', () => signedFields(renderPolicy(anyKey)), 400, 'InvalidArgument'],
  ])('are refused when %s, and store nothing', async (_, fields, status, code) => {
    expect(await post('closed', fields())).toMatchObject({ status, code });
    expect((await send({ target: '/closed/k' })).status).toBe(404);
  });

  it('are refused when not a form, too long before the file, or cut short', async () => {
    const plain = await sendRaw(store.endpoint, { method: 'POST', target: '/open', body: 'key=k' });
    expect(plain).toMatchObject({ status: 412, code: 'PreconditionFailed' });
    const long = await post('open', [
      ['key', 'k'],
      ['x-amz-meta-a', 'a'.repeat(21 * 1_024)],
    ]);
    expect(long).toMatchObject({ status: 400, code: 'MaxPostPreDataLengthExceeded' });
    expect(await postBody('open', renderForm([['key', 'k']], 'content', ''))).toMatchObject({ code: 'IncompleteBody' });
    expect(await post('absent', [['key', 'k']])).toMatchObject({ status: 404, code: 'NoSuchBucket' });
  });
});
