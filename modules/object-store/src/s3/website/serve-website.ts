import type { ServerResponse } from 'node:http';
import { isAppError } from '@svc/errors';
import { ANONYMOUS } from '../../domain/caller.ts';
import type { StoreServices } from '../../domain/services.ts';
import { readSettings } from '../../domain/settings/bucket-settings.ts';
import {
  parseWebsiteDocument,
  redirectedKey,
  ruleFor,
  type RoutingRule,
  type WebsiteDocument,
  type WebsiteTarget,
} from '../../domain/website/website-document.ts';
import type { FoundObject } from '../../domain/ports/objects.ts';
import type { BucketRecord } from '../../domain/ports/records.ts';
import { authorize, findAllowed } from '../access/authorize.ts';
import { watchBucket } from '../watch-bucket.ts';
import { READ_OBJECT } from '../access/rules.ts';
import { anonymousPayload } from '../auth/payload-declaration.ts';
import { answerObject } from '../operations/get-object.ts';
import { RequestQuery } from '../query.ts';
import { RequestHeaders } from '../request-headers.ts';
import type { S3Request } from '../s3-request.ts';
import type { S3Oversight } from '../s3-context.ts';

export interface WebsiteRequest {
  request: S3Request;
  response: ServerResponse;
  services: StoreServices;
  oversight: S3Oversight;
  bucket: BucketRecord;
  document: WebsiteDocument;
}

const DEFAULT_INDEX = 'index.html';

/** Null if the bucket is not a website. */
export async function readWebsite(services: StoreServices, bucket: BucketRecord): Promise<WebsiteDocument | null> {
  return (await services.configurations.of(bucket)).parsed('website', parseWebsiteDocument);
}

/** Whether a request may be for a website: unsigned reads only. */
export function isBrowsing({ method, headers, query }: S3Request): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  return !headers.has('authorization') && !query.has('X-Amz-Signature') && !query.has('Signature');
}

/** Responds like S3's website endpoint. Content that is not public appears as missing. */
export async function serveWebsite(site: WebsiteRequest): Promise<void> {
  const { request, document } = site;
  if (request.method !== 'GET' && request.method !== 'HEAD') return page(site, 405, 'Method Not Allowed');
  const asked = request.key ?? '';
  if (document.redirectAllTo !== undefined)
    return redirect(site, 301, createRedirectUrl(site, document.redirectAllTo, asked));
  const rule = ruleFor(document, asked, null);
  if (rule !== null) return redirectBy(site, rule, asked);
  const index = document.index ?? DEFAULT_INDEX;
  const isFolder = asked === '' || asked.endsWith('/');
  const found = await findPublic(site, isFolder ? asked + index : asked);
  if (found !== null) {
    const location = found.version.attributes.websiteRedirectLocation;
    if (location !== undefined) return redirect(site, 301, location);
    return await answer(site, found, {});
  }
  if (!isFolder && (await findPublic(site, `${asked}/${index}`)) !== null) {
    return redirect(site, 302, `/${encoded(asked)}/`);
  }
  await refuse(site, asked);
}

async function refuse(site: WebsiteRequest, asked: string): Promise<void> {
  const { document } = site;
  const rule = ruleFor(document, asked, 404) ?? ruleFor(document, asked, 403);
  if (rule !== null) return redirectBy(site, rule, asked);
  const error = document.error === undefined ? null : await findPublic(site, document.error);
  if (error === null) return page(site, 404, 'Not Found');
  const plain = { ...site.request, headers: new RequestHeaders([]) }; // ranges and conditions refer to the missing page
  await answer({ ...site, request: plain }, error, { status: 404 });
}

async function answer(site: WebsiteRequest, found: FoundObject, as: { status?: number }): Promise<void> {
  const { request, response, services, bucket } = site;
  const { deps, configurations } = services;
  const named = { ...request, key: found.version.key, query: new RequestQuery('') };
  const input = { ...anonymously(site), request: named } as const;
  const access = await authorize(input);
  const { cacheControl } = readSettings(await configurations.of(bucket), deps.config.soft_delete_days);
  const unset = found.version.attributes.headers?.['cache-control'] === undefined;
  const endWatch = watchBucket({ request, response, input });
  try {
    await answerObject(
      {
        request: named,
        response,
        services,
        oversight: site.oversight,
        bucket,
        key: named.key,
        caller: ANONYMOUS,
        payload: anonymousPayload(named),
        seed: null,
        access: { ...access, loaded: found },
      },
      { ...as, ...(unset && cacheControl !== null ? { headers: { 'cache-control': cacheControl } } : {}) },
    );
  } finally {
    endWatch();
  }
}

async function findPublic(site: WebsiteRequest, key: string): Promise<FoundObject | null> {
  const request = { ...site.request, key, query: new RequestQuery('') };
  try {
    const access = await authorize({ ...anonymously(site), request });
    return await findAllowed(site.services, access, { key });
  } catch (error) {
    if (isAppError(error) && error.status < 500) return null;
    throw error;
  }
}

function anonymously({ services, bucket }: WebsiteRequest) {
  return { services, bucket, caller: ANONYMOUS, operation: READ_OBJECT } as const;
}

function redirectBy(site: WebsiteRequest, rule: RoutingRule, asked: string): void {
  redirect(site, rule.redirect.status ?? 301, createRedirectUrl(site, rule.redirect, redirectedKey(rule, asked)));
}

function createRedirectUrl({ request }: WebsiteRequest, target: Partial<WebsiteTarget>, key: string): string {
  const own = request.isSecure ? 'https' : 'http';
  const host = target.hostName ?? request.headers.get('host') ?? '';
  return `${target.protocol ?? own}://${host}/${encoded(key)}`;
}

function redirect({ response }: WebsiteRequest, status: number, location: string): void {
  response.writeHead(status, { location, 'content-length': 0 });
  response.end();
}

function page({ request, response }: WebsiteRequest, status: number, title: string): void {
  const text = `<!doctype html><html><head><title>${status} ${title}</title></head><body><h1>${status} ${title}</h1></body></html>\n`;
  const headers = { 'content-type': 'text/html; charset=utf-8', 'content-length': Buffer.byteLength(text) };
  response.writeHead(status, status === 405 ? { ...headers, allow: 'GET, HEAD' } : headers);
  response.end(request.method === 'HEAD' ? undefined : text);
}

function encoded(key: string): string {
  return key.split('/').map(encodeURIComponent).join('/');
}
