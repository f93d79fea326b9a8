import {
  DeleteBucketWebsiteCommand,
  GetBucketWebsiteCommand,
  PutBucketPolicyCommand,
  PutBucketWebsiteCommand,
  PutObjectCommand,
  type S3Client,
  type WebsiteConfiguration,
} from '@aws-sdk/client-s3';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startClientStore, type ClientStore } from '../support/client-store.ts';
import { catchRefusal } from '../support/s3-client.ts';

const Bucket = 'pages';
const INDEX = { IndexDocument: { Suffix: 'index.html' } };

describe('a bucket website', () => {
  let store: ClientStore;
  let client: S3Client;

  beforeAll(async () => {
    store = await startClientStore({ bucket: Bucket });
    ({ client } = store);
    const Statement = [
      { Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: [`arn:aws:s3:::${Bucket}/*`] },
      { Effect: 'Deny', Principal: '*', Action: 's3:GetObject', Resource: [`arn:aws:s3:::${Bucket}/private/*`] },
    ];
    const Policy = JSON.stringify({ Version: '2012-10-17', Statement });
    await client.send(new PutBucketPolicyCommand({ Bucket, Policy }));
    for (const key of ['index.html', 'docs/index.html', 'docs/a.html', 'lost.html', 'private/index.html']) {
      await client.send(new PutObjectCommand({ Bucket, Key: key, Body: `at ${key}`, ContentType: 'text/html' }));
    }
  });
  afterAll(async () => {
    await store.close();
  });

  const configure = (WebsiteConfiguration: WebsiteConfiguration) =>
    client.send(new PutBucketWebsiteCommand({ Bucket, WebsiteConfiguration }));

  const get = (path: string, options: { method?: string; host?: string; headers?: Record<string, string> } = {}) =>
    new Promise<{ status: number; body: string; location?: string; type?: string }>((resolve, reject) => {
      const { method = 'GET', host = `${Bucket}.web.localhost`, headers = {} } = options;
      const target = { port: store.port, host: '127.0.0.1', path, method, headers: { ...headers, host } };
      const outgoing = request(target, (response) => {
        text(response).then((body) => {
          const { location, 'content-type': type } = response.headers;
          resolve({
            status: response.statusCode ?? 0,
            body,
            ...(location === undefined ? {} : { location }),
            ...(type === undefined ? {} : { type }),
          });
        }, reject);
      });
      outgoing.once('error', reject).end();
    });

  it('serves folder indexes, redirects folders to a trailing slash, and serves the error page otherwise', async () => {
    await configure({ ...INDEX, ErrorDocument: { Key: 'lost.html' } });
    expect(await get('/')).toMatchObject({ status: 200, body: 'at index.html', type: 'text/html' });
    expect(await get('/docs/')).toMatchObject({ status: 200, body: 'at docs/index.html' });
    expect(await get('/docs/a.html?list-type=2')).toMatchObject({ status: 200, body: 'at docs/a.html' });
    expect(await get('/docs')).toMatchObject({ status: 302, location: '/docs/' });
    expect(await get('/nothing')).toMatchObject({ status: 404, body: 'at lost.html', type: 'text/html' });
    expect(await get('/nothing', { headers: { range: 'bytes=0-1' } })).toMatchObject({ body: 'at lost.html' });
    expect(await get('/private/')).toMatchObject({ status: 404, body: 'at lost.html' });
    expect(await get('/', { method: 'HEAD' })).toMatchObject({ status: 200, body: '', type: 'text/html' });
    expect(await get('/', { method: 'PUT' })).toMatchObject({ status: 405 });
    expect(await get('/docs/a.html', { headers: { range: 'bytes=3-6' } })).toMatchObject({ status: 206, body: 'docs' });
  });

  it('redirects by its rules before a lookup and after a miss, and by the redirect location of an object', async () => {
    await configure({
      ...INDEX,
      RoutingRules: [
        {
          Condition: { KeyPrefixEquals: 'old/' },
          Redirect: { ReplaceKeyPrefixWith: 'docs/', HttpRedirectCode: '302' },
        },
        {
          Condition: { HttpErrorCodeReturnedEquals: '404', KeyPrefixEquals: 'app/' },
          Redirect: { HostName: 'elsewhere.example', Protocol: 'https', ReplaceKeyWith: 'app.html' },
        },
      ],
    });
    const host = `${Bucket}.web.localhost`;
    expect(await get('/old/a.html')).toMatchObject({ status: 302, location: `http://${host}/docs/a.html` });
    expect(await get('/app/x/y')).toMatchObject({ status: 301, location: 'https://elsewhere.example/app.html' });
    expect(await get('/nothing')).toMatchObject({ status: 404, type: 'text/html; charset=utf-8' });
    const moved = { Bucket, Key: 'moved', WebsiteRedirectLocation: '/docs/a.html' };
    await client.send(new PutObjectCommand(moved));
    expect(await get('/moved')).toMatchObject({ status: 301, location: '/docs/a.html' });
    const wrong = client.send(new PutObjectCommand({ ...moved, WebsiteRedirectLocation: 'javascript:x' }));
    expect(await catchRefusal(wrong)).toEqual({ code: 'InvalidRedirectLocation', status: 400 });
  });

  it('redirects every request when configured to', async () => {
    await configure({ RedirectAllRequestsTo: { HostName: 'new.example', Protocol: 'https' } });
    expect(await get('/a%20b/%C3%BC?x=1')).toMatchObject({ status: 301, location: 'https://new.example/a%20b/%C3%BC' });
  });

  it('returns its configuration as set, and rejects an invalid one', async () => {
    const configuration: WebsiteConfiguration = {
      ...INDEX,
      ErrorDocument: { Key: 'e.html' },
      RoutingRules: [{ Condition: { HttpErrorCodeReturnedEquals: '404' }, Redirect: { HostName: 'a.example' } }],
    };
    await configure(configuration);
    const { IndexDocument, ErrorDocument, RoutingRules } = await client.send(new GetBucketWebsiteCommand({ Bucket }));
    expect({ IndexDocument, ErrorDocument, RoutingRules }).toEqual(configuration);
    const toA = { HostName: 'a.example' };
    const many = Array.from({ length: 51 }, () => ({ Redirect: toA }));
    const wrong: [code: string, configuration: WebsiteConfiguration][] = [
      ['InvalidArgument', {}],
      ['InvalidArgument', { IndexDocument: { Suffix: 'a/b' } }],
      ['InvalidArgument', { ...INDEX, ErrorDocument: { Key: '' } }],
      ['MalformedXML', { ...INDEX, RedirectAllRequestsTo: toA }],
      ['InvalidRequest', { RedirectAllRequestsTo: { HostName: 'a.example/\r\nx: y' } }],
      ['InvalidRequest', { ...INDEX, RoutingRules: [{ Redirect: { ...toA, HttpRedirectCode: '200' } }] }],
      [
        'InvalidRequest',
        { ...INDEX, RoutingRules: [{ Redirect: { ReplaceKeyWith: 'a', ReplaceKeyPrefixWith: 'b' } }] },
      ],
      ['InvalidRequest', { ...INDEX, RoutingRules: many }],
    ];
    for (const [code, each] of wrong) expect(await catchRefusal(configure(each))).toEqual({ code, status: 400 });
  });

  it('is gone once its configuration is deleted, while the bucket stays', async () => {
    await configure(INDEX);
    await client.send(new DeleteBucketWebsiteCommand({ Bucket }));
    const absent = { code: 'NoSuchWebsiteConfiguration', status: 404 };
    expect(await catchRefusal(client.send(new GetBucketWebsiteCommand({ Bucket })))).toEqual(absent);
    expect(await get('/')).toMatchObject({ status: 404, body: expect.stringContaining('NoSuchWebsiteConfiguration') });
    expect(await get('/docs/a.html', { host: `${Bucket}.s3.localhost` })).toMatchObject({ body: 'at docs/a.html' });
  });
});
