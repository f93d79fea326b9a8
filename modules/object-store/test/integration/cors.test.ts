import {
  DeleteBucketCorsCommand,
  GetBucketCorsCommand,
  PutBucketCorsCommand,
  PutBucketLoggingCommand,
  GetBucketRequestPaymentCommand,
  type CORSRule,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readCorsDocument } from '../../src/s3/operations/cors.ts';
import { startClientStore, type ClientStore } from '../support/client-store.ts';
import { sendRaw, type RawAnswer } from '../support/raw-request.ts';
import { catchRefusal } from '../support/s3-client.ts';

describe('bucket CORS', () => {
  let store: ClientStore;
  let client: S3Client;
  const Bucket = 'browsed';
  const origin = 'https://app.example';

  beforeAll(async () => {
    store = await startClientStore({ bucket: Bucket });
    ({ client } = store);
  });
  afterAll(async () => {
    await store.close();
  });

  const put = (CORSRules: CORSRule[]) =>
    client.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules } }));
  const ask = (headers: Record<string, string>, method = 'OPTIONS'): Promise<RawAnswer> =>
    sendRaw(store.endpoint, { method, target: `/${Bucket}/key`, headers });
  const preflight = { origin, 'access-control-request-method': 'PUT' };

  it('is absent until set, is returned as set, and can be deleted', async () => {
    const missing = { code: 'NoSuchCORSConfiguration', status: 404 };
    expect(await catchRefusal(client.send(new GetBucketCorsCommand({ Bucket })))).toEqual(missing);
    expect(await ask(preflight)).toMatchObject({ status: 403, code: 'AccessForbidden' });
    const rule = {
      ID: 'one',
      AllowedOrigins: ['https://*.example'],
      AllowedMethods: ['GET', 'PUT'],
      AllowedHeaders: ['x-amz-*', 'content-type'],
      ExposeHeaders: ['ETag'],
      MaxAgeSeconds: 60,
    };
    await put([rule]);
    expect((await client.send(new GetBucketCorsCommand({ Bucket }))).CORSRules).toEqual([rule]);
    const allowed = await ask({ ...preflight, 'access-control-request-headers': 'X-Amz-Date, Content-Type' });
    expect(allowed.status).toBe(200);
    expect(allowed.headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, PUT',
      'access-control-allow-headers': 'x-amz-date, content-type',
      'access-control-expose-headers': 'ETag',
      'access-control-max-age': '60',
      'access-control-allow-credentials': 'true',
    });
    expect(await ask({ ...preflight, 'access-control-request-headers': 'range' })).toMatchObject({ status: 403 });
    expect(await ask({ origin })).toMatchObject({ status: 400, code: 'BadRequest' });
    expect(await ask({ 'access-control-request-method': 'PUT' })).toMatchObject({ status: 400, code: 'BadRequest' });
    await client.send(new DeleteBucketCorsCommand({ Bucket }));
    expect(await ask(preflight)).toMatchObject({ status: 403 });
  });

  it('adds CORS headers to errors too, but only for matching requests', async () => {
    await put([{ AllowedOrigins: ['*'], AllowedMethods: ['GET'] }]);
    const refused = await ask({ origin }, 'GET');
    expect(refused).toMatchObject({ status: 403, code: 'AccessDenied' });
    expect(refused.headers).toMatchObject({
      'access-control-allow-origin': '*',
      vary: expect.stringContaining('Origin'),
    });
    expect((await ask({}, 'GET')).headers).not.toHaveProperty('access-control-allow-origin');
    expect((await ask({ origin }, 'PUT')).headers).not.toHaveProperty('access-control-allow-origin');
    expect(
      (await sendRaw(store.endpoint, { method: 'OPTIONS', target: '/nobodys/key', headers: preflight })).code,
    ).toBe('NoSuchBucket');
  });

  it.each([
    ['no rule', '<CORSConfiguration></CORSConfiguration>', 'MalformedXML'],
    ['no origin', '<CORSRule><AllowedMethod>GET</AllowedMethod></CORSRule>', 'MalformedXML'],
    [
      'an unknown method',
      '<CORSRule><AllowedMethod>PATCH</AllowedMethod><AllowedOrigin>*</AllowedOrigin></CORSRule>',
      'InvalidRequest',
    ],
    [
      'two stars',
      '<CORSRule><AllowedMethod>GET</AllowedMethod><AllowedOrigin>*a*</AllowedOrigin></CORSRule>',
      'InvalidRequest',
    ],
    [
      'a header of two lines',
      '<CORSRule><AllowedMethod>GET</AllowedMethod><AllowedOrigin>a&#10;b</AllowedOrigin></CORSRule>',
      'MalformedXML',
    ],
    [
      'an element in a text',
      '<CORSRule><AllowedMethod><a/></AllowedMethod><AllowedOrigin>*</AllowedOrigin></CORSRule>',
      'MalformedXML',
    ],
  ])('rejects %s', (_, xml, code) => {
    const document = xml.startsWith('<CORSConfiguration') ? xml : `<CORSConfiguration>${xml}</CORSConfiguration>`;
    expect(() => readCorsDocument(document)).toThrow(expect.objectContaining({ code }));
  });

  it('answers requests that are the same for every bucket, and rejects unsupported ones by name', async () => {
    expect((await client.send(new GetBucketRequestPaymentCommand({ Bucket }))).Payer).toBe('BucketOwner');
    const LoggingEnabled = { TargetBucket: Bucket, TargetPrefix: '' };
    const logging = new PutBucketLoggingCommand({ Bucket, BucketLoggingStatus: { LoggingEnabled } });
    expect(await catchRefusal(client.send(logging))).toEqual({ code: 'NotImplemented', status: 501 });
  });
});
