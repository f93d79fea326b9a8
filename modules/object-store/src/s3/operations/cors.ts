import { defineOperation, type BucketHandler } from '../operation.ts';
import { storeErrors } from '../../errors.ts';
import {
  CORS_METHODS,
  parseCorsDocument,
  type CorsDocument,
  type CorsMethod,
  type CorsRule,
} from '../../domain/settings/shared-documents.ts';
import { receiveDocument } from '../body/receive-document.ts';
import { respondEmpty, respondXml } from '../respond.ts';
import { children, childText, parseXml, readText, type XmlElement } from '../xml-reader.ts';

const MAX_DOCUMENT_BYTES = 64 * 1024;
const MAX_RULES = 100;

const getBucketCors: BucketHandler = async (context) => {
  const configuration = await context.services.configurations.of(context.bucket);
  const document = configuration.parsed('cors', parseCorsDocument);
  if (document === null) throw storeErrors.NoSuchCORSConfiguration();
  respondXml(context.response, 'CORSConfiguration', {
    CORSRule: document.rules.map((rule) => ({
      ID: rule.id,
      AllowedMethod: rule.allowedMethods,
      AllowedOrigin: rule.allowedOrigins,
      AllowedHeader: rule.allowedHeaders,
      ExposeHeader: rule.exposeHeaders,
      MaxAgeSeconds: rule.maxAgeSeconds,
    })),
  });
};

const putBucketCors: BucketHandler = async (context) => {
  const document = readCorsDocument(await receiveDocument(context, MAX_DOCUMENT_BYTES));
  await context.services.configurations.put(context.bucket, 'cors', JSON.stringify(document));
  respondEmpty(context.response, 200);
};

const deleteBucketCors: BucketHandler = async (context) => {
  await context.services.configurations.put(context.bucket, 'cors', null);
  respondEmpty(context.response, 204);
};

export function readCorsDocument(xml: string): CorsDocument {
  const rules = children(parseXml(xml, 'CORSConfiguration'), 'CORSRule').map((element) => readRule(element));
  if (rules.length === 0 || rules.length > MAX_RULES) throw storeErrors.MalformedXML();
  return { rules };
}

function readRule(element: XmlElement): CorsRule {
  const texts = (name: string): readonly string[] => children(element, name).map((child) => readText(child));
  const id = childText(element, 'ID');
  const rule = {
    allowedOrigins: texts('AllowedOrigin'),
    allowedMethods: texts('AllowedMethod').map(readMethod),
    allowedHeaders: texts('AllowedHeader'),
    exposeHeaders: texts('ExposeHeader'),
    maxAgeSeconds: readMaxAge(childText(element, 'MaxAgeSeconds')),
  };
  if (rule.allowedOrigins.length === 0 || rule.allowedMethods.length === 0) throw storeErrors.MalformedXML();
  if (id !== undefined && id.length > 255) throw storeErrors.MalformedXML();
  assertOneWildcard('AllowedOrigin', rule.allowedOrigins);
  assertOneWildcard('AllowedHeader', rule.allowedHeaders);
  // These values go into response headers, where a line break would start another header.
  if ([...rule.allowedOrigins, ...rule.allowedHeaders].some((text) => /\p{Cc}/u.test(text))) {
    throw storeErrors.MalformedXML();
  }
  const wildcard = rule.exposeHeaders.find((name) => name.includes('*'));
  if (wildcard !== undefined) {
    throw invalid(`ExposeHeader "${wildcard.slice(0, 100)}" contains wildcard. We currently do not support that.`);
  }
  assertHeaderNames('AllowedHeader', rule.allowedHeaders);
  assertHeaderNames('ExposeHeader', rule.exposeHeaders);
  return { ...(id === undefined ? {} : { id }), ...rule };
}

function readMethod(text: string): CorsMethod {
  const method = CORS_METHODS.find((each) => each === text);
  if (method !== undefined) return method;
  throw invalid(`Found unsupported HTTP method in CORS config. Unsupported method is ${text.slice(0, 40)}`);
}

/** Tokens as in RFC 9110, with `*` as a wildcard. */
function assertHeaderNames(element: string, names: readonly string[]): void {
  const wrong = names.find((name) => !/^[\w!#$%&'*+.^`|~-]{1,255}$/.test(name));
  if (wrong !== undefined) throw invalid(`${element} "${wrong.slice(0, 100)}" contains invalid character.`);
}

function readMaxAge(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^-?\d{1,9}$/.test(text.trim())) throw storeErrors.MalformedXML();
  return Number(text);
}

function assertOneWildcard(element: string, texts: readonly string[]): void {
  const wrong = texts.find((text) => text.split('*').length > 2);
  if (wrong !== undefined) throw invalid(`${element} "${wrong.slice(0, 100)}" can not have more than one wildcard.`);
}

function invalid(reason: string): Error {
  return storeErrors.InvalidRequest({ details: { reason } });
}

export const corsOperations = [
  defineOperation({
    name: 'GetBucketCors',
    on: 'bucket',
    method: 'GET',
    subresource: 'cors',
    action: 's3:GetBucketCORS',
    needs: 'bucket:read',
    handle: getBucketCors,
  }),
  defineOperation({
    name: 'PutBucketCors',
    on: 'bucket',
    method: 'PUT',
    subresource: 'cors',
    action: 's3:PutBucketCORS',
    needs: 'bucket:update',
    handle: putBucketCors,
  }),
  defineOperation({
    name: 'DeleteBucketCors',
    on: 'bucket',
    method: 'DELETE',
    subresource: 'cors',
    action: 's3:PutBucketCORS',
    needs: 'bucket:update',
    handle: deleteBucketCors,
  }),
];
